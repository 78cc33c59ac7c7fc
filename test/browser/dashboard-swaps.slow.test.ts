import type { BrowserContext, Page } from 'playwright-core'
import { beforeEach, expect, it } from 'vitest'
import { charted, period, pollHurried, settledNumbers, shows, signedInOfFile, watchedPage } from './open-dashboard.ts'
import { sampleCounter, TOKEN } from './shipped-worker.ts'

const counter = sampleCounter()
const { browser, session } = signedInOfFile(counter)
const SETTINGS = { timezoneId: 'Europe/Berlin', viewport: { width: 1280, height: 800 } }
let context: BrowserContext
let page: Page
/** Pages that were loaded, and not swapped. */
let loads: number
let provokes: (answers: RegExp) => void
beforeEach(async () => {
  ;({ context, page, provokes } = await watchedPage(browser, counter, { ...SETTINGS, storageState: session }))
  loads = 0
  page.on('load', () => void loads++)
})

const type = '/?type=page_view'
async function open(path = type): Promise<void> {
  await page.goto(counter.url + path)
  await charted(page)
  await settledNumbers(page)
  await shows(page, '#as-of', 'Europe/Berlin')
}
const keys = () => page.locator('#top .whole').allTextContents()
const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')
const count = async (selector: string) => Number((await page.textContent(selector))!.replaceAll(',', ''))
const link = (name: string) => page.getByRole('link', { name, exact: true })
const units = () => page.locator('#table tbody tr').count()

it('A link to another view swaps the page, keeps the focus, the place and what is open, and can be gone back from', async () => {
  await open()
  await page.locator('#table > summary').click()
  await page.evaluate(() => scrollTo(0, 300))
  await period(page, '7 days').evaluate((link) => link.focus({ preventScroll: true }))
  await page.keyboard.press('Enter')
  await page.waitForURL(/period=7d$/)
  await settledNumbers(page)
  expect([await units(), await page.locator('#table').getAttribute('open')]).toEqual([7, ''])
  expect(await page.evaluate(() => [scrollY, document.activeElement?.id])).toEqual([300, 'tile-7d'])
  const announced = `${await page.textContent('#chart-days')}: ${await page.textContent('#chart-sum')}`
  expect(await page.textContent('#announcement')).toBe(announced)
  await page.goBack()
  await expect.poll(units).toBe(30)
  expect(loads).toBe(1)
})

it('A link to another view is in a panel that closes; each drawing fades as a whole while its numbers come, and nothing shifts', async () => {
  await open()
  await page.locator('#chart-options').click()
  await link('Weeks').click()
  await expect.poll(units).toBeLessThan(10)
  await page.goBack()
  await expect.poll(units).toBe(30)
  const parts = ['.chart > svg', '.chart > svg > svg', '.weekends', '.bars', '.small-chart svg', '#chart-sum']
  const opacities = () =>
    page.evaluate(
      (parts) => parts.map((part) => Number(getComputedStyle(document.querySelector(part)!).opacity)),
      parts,
    )
  const held = Promise.withResolvers<void>()
  await page.route(/period=90d/, (route) => held.promise.then(() => route.continue()))
  await page.locator('#other-days').click()
  await link('90 days').click()
  await expect.poll(opacities).toEqual([0.4, 1, 0.04, 1, 0.4, 1])
  held.resolve()
  await settledNumbers(page)
  expect(await opacities()).toEqual([1, 1, 0.04, 1, 1, 1])
  expect(await page.locator(':popover-open').count()).toBe(0)
  const shifts = await page.evaluate(async () => {
    const entries: PerformanceEntry[] = []
    const observer = new PerformanceObserver((list) => void entries.push(...list.getEntries()))
    observer.observe({ type: 'layout-shift', buffered: true })
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
    return entries.length
  })
  expect(shifts).toBe(0)
  await page.locator('#other-days').click()
  await page.getByLabel('From').fill('2026-01-03')
  await page.getByLabel('to', { exact: true }).fill('2026-01-01')
  await page.getByRole('button', { name: 'Show' }).click()
  await shows(page, '#chart-days', '1 – 3 Jan 2026')
  expect([await page.textContent('#other-days'), loads]).toEqual(['1 – 3 Jan 2026 ▾', 1])
})

it('A link to another page, or with a key that opens a tab, is an ordinary one', async () => {
  await open(`${type}&period=7d`)
  await page.locator('#top .count').first().click({ force: true })
  await page.waitForURL(/\/counter\?type=page_view&key=%2F&period=7d$/)
  await page.goBack()
  await charted(page)
  const opened = context.waitForEvent('page')
  await period(page, 'Today').click({ modifiers: ['ControlOrMeta'] })
  await (await opened).waitForURL(/period=today$/)
  expect(page.url()).toMatch(/period=7d$/)
  await page.goto(counter.url)
  await page.locator('.type a').nth(1).click()
  await page.waitForURL('**/?type=download')
  expect(await page.locator('header [aria-current]').textContent()).toBe('Downloads')
})

it('Share opens in the page, loads its images only then, and copies', async () => {
  const images: string[] = []
  page.on('request', (request) => request.resourceType() === 'image' && images.push(new URL(request.url()).pathname))
  const sent = () => images.filter((path) => path.endsWith('.svg')).sort()
  await open()
  expect(sent()).toEqual([])
  await link('Share').click()
  await expect.poll(sent).toEqual(['/badge/page_view.svg', '/chart/page_view.svg'])
  await page.getByRole('button', { name: 'Copy: Badge' }).click()
  await page.getByText(/^(Copied\.|Selected\. Copy it with the keyboard\.)$/).waitFor()
  await link('Share').click()
  await expect.poll(() => page.locator('#share').count()).toBe(0)
  expect(loads).toBe(1)
})

it('Typing in the search finds after a pause, keeps the cursor and later letters, and is one step to go back from', async () => {
  await open()
  const before = await keys()
  const field = page.getByLabel('Filter')
  const cursor = () =>
    field.evaluate((input: HTMLInputElement) => input === document.activeElement && input.selectionStart)
  await field.pressSequentially('/docs/')
  await pollHurried(page, async () => (await keys()).every((key) => key.startsWith('/docs/'))).toBe(true)
  expect(await cursor()).toBe(6)
  for (const key of ['Home', 'ArrowRight', 'Delete']) await page.keyboard.press(key)
  await page.waitForURL(/find=%2Focs%2F/)
  await settledNumbers(page)
  expect(await cursor()).toBe(1)
  await page.goBack()
  await expect.poll(keys).toEqual(before)
  expect([await field.inputValue(), loads]).toEqual(['', 1])
  // An earlier answer comes while more is typed.
  await field.fill('/docs/')
  await page.clock.fastForward(300)
  await field.press('End')
  await field.pressSequentially('mysql')
  await pollHurried(page, keys).toEqual(expect.arrayContaining(['/docs/mysql/tail']))
  expect(await field.inputValue()).toBe('/docs/mysql')
})

it('A page shows new counts by itself, keeps the focus, and waits while something is typed, selected or open', async () => {
  await open()
  const today = await count('#tile-today b')
  await page.locator('#top .whole').nth(1).focus()
  const second = await focused()
  await counter.add('page_view', second, 100_000)
  await pollHurried(page, () => count('#tile-today b')).toBe(today + 100_000)
  expect([await focused(), (await keys())[0]]).toEqual([second, second])

  await page.evaluate(() => getSelection()!.selectAllChildren(document.querySelector('#top a')!))
  await counter.add('page_view', second, 1)
  const main = await page.locator('#main').elementHandle()
  await page.clock.fastForward(120_000)
  expect(await main!.evaluate((main) => main.isConnected)).toBe(true)
  await page.evaluate(() => getSelection()!.removeAllRanges())
  await pollHurried(page, () => count('#tile-today b')).toBe(today + 100_001)
  expect(loads).toBe(1)
})

it('A page says that it is offline, what is wrong, or that its session has ended, keeps its numbers, and recovers afterwards', async () => {
  provokes(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|502|401/)
  await open()
  const month = await page.textContent('#chart-sum')
  await context.setOffline(true)
  await period(page, 'Today').click()
  await shows(page, '#message', 'You are offline. These are the last known numbers.')
  expect(await page.textContent('#state')).toContain('Not up to date')
  expect(await page.textContent('#chart-sum')).toBe(month)
  await context.setOffline(false)
  await pollHurried(page, () => page.textContent('#message')).toBe('')
  expect(await page.textContent('#state')).toContain('up to')

  await page.route('**/?*', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
  await period(page, '7 days').click()
  await shows(page, '#message', 'The Worker answered 502.')
  await page.unroute('**/?*')
  await pollHurried(page, units).toBe(7)
  await context.clearCookies({ name: /^session/ })
  await period(page, 'Today').click()
  await link('Sign in again.').click()
  await page.getByText('Your session has ended. Sign in again.').waitFor()
  await page.locator('#token:focus').fill(TOKEN)
  await page.keyboard.press('Enter')
  await page.waitForSelector('main[data-page=overview]')
  expect(page.url()).toMatch(/period=today$/)
})

it('A page whose numbers could not be read at first shows them as soon as they can be', async () => {
  const trouble = '<main id="main" data-page="trouble"><h1>Wrong</h1><p id="trouble">Not now.</p></main>'
  await page.route(`**${type}`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace(/<main.*<\/main>/s, trouble) })
  })
  await page.goto(counter.url + type)
  await pollHurried(page, () => page.locator('.tile').count()).toBe(6)
  expect(await page.textContent('#message')).toBe('')
})

/** Where a unit of the chart is in the window. */
async function unitAt(index: number) {
  const chart = page.locator('#chart')
  await chart.scrollIntoViewIfNeeded()
  const { x, y, width } = (await chart.boundingBox())!
  const place = (width - 48) / Number(await chart.getAttribute('data-units'))
  const from = x + 48 + place * index
  return { from, to: from + place, middle: from + place / 2, y: y + 50 }
}

const tip = () => page.locator('.tip')
const lines = () => page.locator('.tip div').allTextContents()
/** What the table says of a unit, as its tip does. */
async function rowText(index: number): Promise<string[]> {
  const row = page.locator('#table tbody tr').nth(index)
  const [time, views, visitors, ...change] = await row.locator(':is(th, td):not(.part-of)').allTextContents()
  return [`${views} · ${visitors} · ${time}`, ...(await row.locator('.part-of').allTextContents()), change.join(' ')]
}

it.each(['', '&show=keys'])('The tip is next to its unit and says what the table says: %s', async (show) => {
  await open(type + show)
  for (const index of [0, 3, 17, 28]) {
    const { from, to, middle, y } = await unitAt(index)
    await page.mouse.move(middle, y)
    await expect.poll(lines).toEqual(await rowText(index))
    const [band, box] = [(await page.locator('.band').boundingBox())!, (await tip().boundingBox())!]
    expect(Math.abs(band.x - from) + Math.abs(band.x + band.width - to)).toBeLessThan(1)
    expect(box.x >= to || box.x + box.width <= from).toBe(true)
  }
  const parts = (await lines()).slice(1, -1).map((line) => line.replace(/^[\d,]+ /, ''))
  expect(parts).toEqual(await page.locator('.legend li').allTextContents())
  await page.mouse.move(0, 0)
  await expect.poll(() => tip().count()).toBe(0)
})

it('The tip of the chart stays at its unit when new numbers come, moves with the arrow keys, is read as a value, and Enter opens the day', async () => {
  await open(`${type}&period=7d`)
  const chart = page.locator('#chart')
  await chart.focus()
  await page.keyboard.press('End')
  const [before] = await lines()
  await counter.add('page_view', '/', 1_000_000)
  await pollHurried(page, async () => (await lines())[0]).not.toBe(before)
  expect(await lines()).toEqual(await rowText(6))
  await page.keyboard.press('Home')
  expect(await lines()).toEqual(await rowText(0))
  await page.keyboard.press('ArrowRight')
  expect(await lines()).toEqual(await rowText(1))
  const said = (await rowText(1)).join(', ').replace('▲', 'up').replace('▼', 'down')
  expect([await chart.getAttribute('aria-valuenow'), await chart.getAttribute('aria-valuetext')]).toEqual(['1', said])
  const day = await page.locator('#table tbody th').nth(1).textContent()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.textContent('#chart-days')).toContain(day!.replace(/^\w+ /, ''))
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('chart')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Escape')
  expect(await tip().count()).toBe(0)
})

it('The tip of the chart comes with the first tap, and a second one opens the day', async () => {
  const phone = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } }
  ;({ page } = await watchedPage(browser, counter, { ...SETTINGS, ...phone, storageState: session }))
  await open()
  const { middle, y } = await unitAt(10)
  await page.touchscreen.tap(middle, y)
  expect(await lines()).toEqual(await rowText(10))
  expect(page.url()).toBe(counter.url + type)
  await page.touchscreen.tap(middle, y)
  await page.waitForURL(/from=.*to=/)
})
