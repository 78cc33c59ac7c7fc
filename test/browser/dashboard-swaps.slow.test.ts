import type { BrowserContext, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import {
  charted,
  counterUrl,
  period,
  pollHurried,
  sessionOfFile,
  settledNumbers,
  shows,
  watchedPage,
} from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
/** Pages that were loaded, and not swapped. */
let loads: number
let provokes: (answers: RegExp) => void
beforeEach(async () => {
  const options = { timezoneId: 'Europe/Berlin', storageState: session, viewport: { width: 1280, height: 800 } }
  ;({ context, page, provokes } = await watchedPage(browser, counter, options))
  loads = 0
  page.on('load', () => void loads++)
})

const type = '/?type=page_view'
async function open(path = type): Promise<void> {
  await page.goto(path.startsWith('http') ? path : counter.url + path)
  await charted(page)
  await settledNumbers(page)
  await shows(page, '#as-of', 'Europe/Berlin')
}
const keys = () => page.locator('#top .whole').allTextContents()
const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')
const count = async (selector: string) => Number((await page.textContent(selector))!.replaceAll(',', ''))
const link = (name: string) => page.getByRole('link', { name, exact: true })
const units = () => page.locator('#table tbody tr').count()

describe('A link to another view', () => {
  it('swaps the page, keeps the focus, the place and what is open, and can be gone back from', async () => {
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

  it('of a unit, another period or days of the calendar is in a panel, which closes', async () => {
    await open()
    for (const [button, name, address] of [
      ['#chart-options', 'Weeks', /by=week$/],
      ['#other-days', '90 days', /period=90d/],
    ] as const) {
      await page.locator(button).click()
      await link(name).click()
      await page.waitForURL(address)
      await settledNumbers(page)
      expect(await page.locator(':popover-open').count()).toBe(0)
    }
    await page.locator('#other-days').click()
    // In either order.
    await page.getByLabel('From').fill('2026-01-03')
    await page.getByLabel('to', { exact: true }).fill('2026-01-01')
    await page.getByRole('button', { name: 'Show' }).click()
    await shows(page, '#chart-days', '1 – 3 Jan 2026')
    expect([await page.textContent('#other-days'), loads]).toEqual(['1 – 3 Jan 2026 ▾', 1])
  })

  it('fades each drawing as a whole while its numbers come, so that weekends get no darker, and shifts nothing', async () => {
    await open()
    const opacities = () =>
      page.evaluate(() =>
        ['.chart > svg', '.chart > svg > svg', '.weekends', '.bars', '.small-chart svg', '#chart-sum'].map((part) =>
          Number(getComputedStyle(document.querySelector(part)!).opacity),
        ),
      )
    expect(await opacities()).toEqual([1, 1, 0.04, 1, 1, 1])
    const held = Promise.withResolvers<void>()
    await page.route(/period=90d/, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.locator('#other-days').click()
    await page.getByRole('link', { name: '90 days' }).click()
    await expect.poll(opacities).toEqual([0.4, 1, 0.04, 1, 0.4, 1])
    held.resolve()
    await settledNumbers(page)
    expect(await opacities()).toEqual([1, 1, 0.04, 1, 1, 1])
    const shifts = await page.evaluate(async () => {
      const entries: PerformanceEntry[] = []
      const observer = new PerformanceObserver((list) => void entries.push(...list.getEntries()))
      observer.observe({ type: 'layout-shift', buffered: true })
      for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
      return entries.length
    })
    expect(shifts).toBe(0)
  })

  it('is an ordinary one to another page, and with a key that opens a tab', async () => {
    await open(`${type}&period=7d`)
    await page.locator('#top .count').first().click({ force: true })
    await page.waitForURL(`${counterUrl(counter, 'page_view', '/')}&period=7d`)
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
})

it('Share opens a panel, loads its images only then, and shows what is chosen in the page', async () => {
  const images: string[] = []
  page.on('request', (request) => request.resourceType() === 'image' && images.push(new URL(request.url()).pathname))
  const sent = () => images.filter((path) => path.endsWith('.svg')).sort()
  await open()
  expect(sent()).toEqual([])
  await page.getByRole('button', { name: 'Share' }).click()
  await expect.poll(sent).toEqual(['/badge/page_view.svg', '/chart/page_view.svg'])
  const area = page.locator('#share')
  await page.getByRole('button', { name: 'Copy: Badge' }).click()
  await area.getByText(/^(Copied\.|Selected\. Copy it with the keyboard\.)$/).waitFor()
  await area.getByLabel('One key').fill('/pricing')
  await area.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/share=key&of=%2Fpricing$/)
  await settledNumbers(page)
  expect(await page.locator(':popover-open').count()).toBe(0)
  await area.getByRole('link', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Share' }).waitFor()
  expect(loads).toBe(1)
})

describe('Typing in the search', () => {
  it('shows what is found after a pause, keeps the cursor, and is one step to go back from', async () => {
    await open()
    const before = await keys()
    const field = page.getByLabel('Filter')
    const cursor = () =>
      field.evaluate((input: HTMLInputElement) => input === document.activeElement && input.selectionStart)
    await field.pressSequentially('/docs/')
    await pollHurried(page, async () => (await keys()).every((key) => key.startsWith('/docs/'))).toBe(true)
    expect(await cursor()).toBe(6)
    // In the middle of the text.
    for (const key of ['Home', 'ArrowRight', 'Delete']) await page.keyboard.press(key)
    await page.waitForURL(/find=%2Focs%2F/)
    await settledNumbers(page)
    expect(await cursor()).toBe(1)
    await page.goBack()
    await expect.poll(keys).toEqual(before)
    expect([await field.inputValue(), loads]).toEqual(['', 1])
  })

  it('is not lost while an earlier answer comes', async () => {
    await open()
    const field = page.getByLabel('Filter')
    await field.fill('/docs/')
    await page.clock.fastForward(300)
    await field.press('End')
    await field.pressSequentially('mysql')
    await pollHurried(page, keys).toEqual(expect.arrayContaining(['/docs/mysql/tail']))
    expect(await field.inputValue()).toBe('/docs/mysql')
  })
})

describe('A page', () => {
  it('shows new counts by itself, keeps the focus, and waits while something is typed, selected or open', async () => {
    await open()
    const today = await count('#tile-today b')
    await page.locator('#top .whole').nth(1).focus()
    const second = await focused()
    await counter.add('page_view', second, 100_000)
    await pollHurried(page, () => count('#tile-today b')).toBe(today + 100_000)
    expect([await focused(), (await keys())[0]]).toEqual([second, second])

    await page.evaluate(() => getSelection()!.selectAllChildren(document.querySelector('#top a')!))
    await counter.add('page_view', second, 1)
    await page.evaluate(() => document.querySelector('#main')!.setAttribute('data-same', ''))
    await page.clock.fastForward(120_000)
    expect(await page.locator('#main[data-same]').count()).toBe(1)
    await page.evaluate(() => getSelection()!.removeAllRanges())
    await pollHurried(page, () => count('#tile-today b')).toBe(today + 100_001)
    expect(loads).toBe(1)
  })

  it('says that it is offline, or what is wrong, keeps its numbers, and goes on afterwards', async () => {
    provokes(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|502/)
    await open()
    const month = await page.textContent('#chart-sum')
    await context.setOffline(true)
    await period(page, 'Today').click()
    await shows(page, '#message', 'You are offline. These are the last known numbers.')
    expect([await page.textContent('#state'), await page.textContent('#chart-sum')]).toEqual([
      expect.stringContaining('Not up to date'),
      month,
    ])
    await context.setOffline(false)
    await pollHurried(page, () => page.textContent('#message')).toBe('')
    expect(await page.textContent('#state')).toContain('up to')

    await page.route('**/?*', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
    await period(page, '7 days').click()
    await shows(page, '#message', 'The Worker answered 502.')
    await page.unroute('**/?*')
    await pollHurried(page, units).toBe(7)
  })

  it('whose numbers could not be read at first shows them as soon as they can be', async () => {
    const trouble = '<main id="main" data-page="trouble"><h1>Wrong</h1><p id="trouble">Not now.</p></main>'
    await page.route(`**${type}`, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace(/<main.*<\/main>/s, trouble) })
    })
    await page.goto(counter.url + type)
    await pollHurried(page, () => page.locator('.tile').count()).toBe(6)
    expect(await page.textContent('#message')).toBe('')
  })
})
