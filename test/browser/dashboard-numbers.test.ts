import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { counterUrl, type Misdeeds, signedIn, watch } from './dashboard.ts'
import { type Counter, launchChromium, startCounter } from './visitor.ts'

const HOUR_MS = 3_600_000
/** Milliseconds in which a page shows what has changed: it asks every 5 s or 10 s, and later where it got no answer. */
const LIVE_MS = 60_000

let browser: Browser
let counter: Counter
let context: BrowserContext
let page: Page
let misdeeds: Misdeeds
beforeAll(async () => {
  counter = await startCounter()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
})
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' })
  misdeeds = await watch(context, counter)
  page = await signedIn(context, counter)
})
afterEach(async () => {
  await context.close()
  await counter.clear()
  // Whatever a test was about.
  expect(misdeeds).toEqual({ foreign: [], said: [] })
})

const shows = (selector: string, text: string | RegExp) =>
  expect.poll(() => page.textContent(selector), { timeout: LIVE_MS }).toMatch(text)

/** A table's rows, their cells apart. */
const table = (selector: string) =>
  page
    .locator(`${selector} tr`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent).join(' | ')))

describe('the page of a type', () => {
  it('shows today against yesterday up to the same hour, the top and the chart’s numbers', async () => {
    const now = Date.now()
    const thisHour = now - (now % HOUR_MS)
    const hoursToday = new Date(thisHour).getUTCHours()
    const midnight = thisHour - hoursToday * HOUR_MS
    const count = async (at: number, by: number, key: string) => {
      await counter.add('page_view', key, by)
      await counter.rollUp(new Date(at))
    }
    // Yesterday: in its first hour, in this hour, and in its last one; today: in this hour.
    await count(midnight - 24 * HOUR_MS, 1_000, '/old')
    await count(thisHour - 24 * HOUR_MS, 200, '/old')
    await count(midnight - 1, 30, '/old')
    await count(thisHour, 4, '/new')
    await page.reload()
    await shows('#today', /^4$/)
    // When the hour is the day's first or last one, what lies in it is the same hour.
    const all = 1_230
    const before = hoursToday === 0 ? 0 : 1_000
    expect(await page.textContent('#yesterday')).toBe('1,230')
    expect(await page.textContent('#compared-label')).toBe(`Today until ${String(hoursToday).padStart(2, '0')}:00`)
    expect(await page.textContent('#compared')).toBe('0')
    expect(await page.textContent('#difference')).toMatch(
      before === 0 ? /^yesterday 0$/ : /^yesterday 1,000 \(-100%\)$/,
    )
    await expect.poll(() => table('#top')).toEqual(['/new | 4'])
    await page.getByRole('button', { name: 'All time' }).click()
    await expect.poll(() => table('#top')).toEqual(['/old | 1,230', '/new | 4'])

    const rows = await table('#history-rows')
    expect(rows).toHaveLength(24)
    expect(rows.at(-1)).toMatch(/ \| 4$/)
    await page.getByRole('button', { name: '30 days' }).click()
    await expect.poll(async () => (await table('#history-rows')).length).toBe(30)
    expect((await table('#history-rows')).slice(-2).map((row) => row.split(' | ')[1])).toEqual([
      all.toLocaleString('en'),
      '4',
    ])
    await page.getByRole('button', { name: '12 months' }).click()
    await expect.poll(async () => (await table('#history-rows')).length).toBe(12)
    expect(await page.locator('.chart canvas').count()).toBe(1)
    expect(await page.getByRole('img', { name: /^Chart: 1,234 in 12 periods/ }).count()).toBe(1)
  })

  it('follows what is counted and rolled up, without being reloaded', async () => {
    await shows('#pending', /^0$/)
    await counter.add('page_view', '/live', 5)
    await shows('#pending', /^1$/)
    await page.getByRole('button', { name: 'Roll up now' }).click()
    await shows('#live-message', /^Rolled up 5\.$/)
    await shows('#pending', /^0$/)
    await shows('#lag', /^caught up/)
    await shows('#today', /^5$/)
    await expect.poll(() => table('#top')).toEqual(['/live | 5'])
    await counter.add('page_view', '/live', 2)
    await counter.rollUp(new Date())
    await shows('#today', /^7$/)
  })

  it('says what the status complains about, until that is over', async () => {
    await counter.add('page_view', '/late', 1)
    await counter.rollUp(new Date(Date.now() - HOUR_MS))
    await shows('#problems', /roll-up/i)
    expect(await page.locator('#problems').isVisible()).toBe(true)
    if (process.env.SCREENSHOTS_FULL) await page.screenshot({ path: `${process.env.SCREENSHOTS_FULL}/problems.png` })
    await page.getByRole('button', { name: 'Roll up now' }).click()
    await shows('#problems', /^$/)
    expect(await page.locator('#problems').isVisible()).toBe(false)
  })

  it('says what is under the pointer', async () => {
    await counter.add('page_view', '/tip', 1_234)
    await counter.rollUp(new Date())
    await shows('#today', /^1,234$/)
    const over = page.locator('.u-over')
    const { width } = (await over.boundingBox())!
    await over.hover({ position: { x: width - 20, y: 30 } })
    await shows('.tip', /^1,234 .*\d\d:00$/)
    const [tip, chart] = [(await page.locator('.tip').boundingBox())!, (await over.boundingBox())!]
    expect(tip.x + tip.width).toBeLessThanOrEqual(chart.x + chart.width + 1)
    if (process.env.SCREENSHOTS_FULL) await page.screenshot({ path: `${process.env.SCREENSHOTS_FULL}/tip.png` })
    await page.mouse.move(0, 0)
    expect(await page.locator('.tip').isVisible()).toBe(false)
  })

  it('finds counters by how they begin, a page at a time, and leads to them', async () => {
    for (let i = 10; i < 34; i++) await counter.add('page_view', `/found/${i}`, i)
    await counter.add('page_view', '/other', 1)
    await page.getByLabel('Key, or how it begins').fill('/found/')
    await page.getByRole('button', { name: 'Find' }).click()
    await expect.poll(async () => (await table('#found'))[0]).toBe('/found/10 | 10')
    for (const length of [20, 24]) {
      await page.getByRole('button', { name: 'Show more' }).click()
      await expect.poll(async () => (await table('#found')).length).toBe(length)
    }
    expect(await page.getByRole('button', { name: 'Show more' }).isVisible()).toBe(false)
    await page.getByRole('link', { name: '/found/33' }).click()
    await shows('#count', /^33$/)
    expect(await page.textContent('h1')).toBe('/found/33')

    await page.goBack()
    await page.getByLabel('Key, or how it begins').fill('/nothing')
    await page.getByLabel('Key, or how it begins').press('Enter')
    await shows('#search-message', /^No key begins with that\.$/)
    expect(await table('#found')).toEqual([])
  })

  it('says that there is no answer, keeps its numbers, and goes on when there is one', async () => {
    await counter.add('page_view', '/kept', 5)
    await counter.rollUp(new Date())
    await shows('#today', /^5$/)
    await context.setOffline(true)
    await shows('#lag', /^The Worker does not answer\.$/)
    await shows('#history-message', /^The Worker does not answer\.$/)
    expect(await page.textContent('#today')).toBe('5')
    await context.setOffline(false)
    await shows('#lag', /^caught up/)
    await shows('#history-message', /^As of the last roll-up/)
    // What the browser itself says of failed requests.
    misdeeds.said = misdeeds.said.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))
  })

  it('asks for nothing while nobody looks', async () => {
    await shows('#pending', /^0$/)
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    await page.waitForLoadState('networkidle')
    await counter.add('page_view', '/unseen', 1)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.waitForTimeout(8_000)
    expect(asked).toEqual([])
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: false, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    await shows('#pending', /^1$/)
  })
})

describe('the page of a counter', () => {
  const open = (type: string, key: string) => page.goto(counterUrl(counter, type, key))

  it('is exact beyond 2^53, and follows what is counted', async () => {
    await counter.api('POST', '/v1/imports', {
      counters: [{ type: 'download', key: 'big', count: '9223372036854775000' }],
    })
    await open('download', 'big')
    await shows('#count', /^9,223,372,036,854,775,000$/)
    await counter.add('download', 'big', 801)
    await shows('#count', /^9,223,372,036,854,775,801$/)
    expect(await page.textContent('#pending-count')).toBe('801')
    await shows('#adjustment-rows', /import\+9,223,372,036,854,775,000$/)
  })

  it('sets and resets, once that was confirmed with both numbers in sight', async () => {
    await counter.add('download', 'app.zip', 41)
    await open('download', 'app.zip')
    const dialog = page.getByRole('dialog')
    const said = () => dialog.innerText()

    await page.getByLabel('Set to').fill('1000')
    await page.getByRole('button', { name: 'Set …' }).click()
    await dialog.waitFor()
    expect(await said()).toMatch(/Set this counter\?[\s\S]*app\.zip[\s\S]*download[\s\S]*41\s*→\s*1,000/)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await counter.has({ 'download app.zip': 41 })

    // Impatiently: it asks once.
    await page.getByRole('button', { name: 'Set …' }).dblclick()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await counter.has({ 'download app.zip': 41 })

    await page.getByRole('button', { name: 'Set …' }).click()
    await dialog.getByRole('button', { name: 'Set' }).click()
    await shows('#change-message', /^Set to 1,000\.$/)
    await counter.has({ 'download app.zip': 1_000 })
    await shows('#count', /^1,000$/)
    await shows('#adjustment-rows', /set\+959$/)

    await page.getByRole('button', { name: 'Reset to zero …' }).click()
    await dialog.waitFor()
    expect(await said()).toMatch(/Reset this counter to zero\?[\s\S]*1,000\s*→\s*0/)
    await dialog.getByRole('button', { name: 'Reset' }).click()
    await shows('#change-message', /^Reset to zero\.$/)
    await counter.has({ 'download app.zip': 0 })
    await shows('#count', /^0$/)
  })

  it('refuses what is no number, before or after it was sent', async () => {
    await counter.add('download', 'app.zip', 41)
    await open('download', 'app.zip')
    for (const wrong of ['', '1.5', '1e3', 'abc', '12345678901234567890']) {
      await page.getByLabel('Set to').fill(wrong)
      await page.getByRole('button', { name: 'Set …' }).click()
      expect(await page.getByRole('dialog').isVisible(), wrong).toBe(false)
    }
    await page.getByLabel('Set to').fill('9007199254740993')
    await page.getByRole('button', { name: 'Set …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Set' }).click()
    await shows('#change-message', /^count must be a whole number between/)
    await counter.has({ 'download app.zip': 41 })
    misdeeds.said = misdeeds.said.filter((line) => !line.includes('422'))
  })

  it('shows any days that are chosen, with their sum', async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 24 * HOUR_MS).toISOString().slice(0, 10)
    await counter.api('POST', '/v1/imports', {
      counters: [
        { type: 'download', key: 'old', count: 7, day: day(400) },
        { type: 'download', key: 'old', count: 20, day: day(399) },
        { type: 'download', key: 'old', count: 500, day: day(398) },
      ],
    })
    await open('download', 'old')
    await shows('#sum', /^0 counted/)
    await page.getByLabel('From').fill(day(400))
    await page.getByLabel('to', { exact: true }).fill(day(399))
    await page.getByLabel('by').selectOption('day')
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#sum', /^27 counted/)
    expect((await table('#history-rows')).map((row) => row.split(' | ')[1])).toEqual(['7', '20'])
    // The last day included, nothing after it; a day alone is a range as well.
    await page.getByLabel('From').fill(day(398))
    await page.getByLabel('to', { exact: true }).fill(day(398))
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#sum', /^500 counted/)
    expect(await table('#history-rows')).toHaveLength(1)
    await page.getByLabel('by').selectOption('month')
    await page.getByLabel('From').fill(day(500))
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#sum', /^527 counted/)
    // Backwards, nothing is asked for.
    await page.getByLabel('From').fill(day(1))
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.textContent('#sum')).toMatch(/^527/)
    // More periods than the API gives.
    await page.getByLabel('From').fill('1990-01-01')
    await page.getByLabel('to', { exact: true }).fill(day(0))
    await page.getByLabel('by').selectOption('hour')
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#history-message', /^from must leave at most/)
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(async () => (await table('#history-rows')).length).toBe(7)
    misdeeds.said = misdeeds.said.filter((line) => !line.includes('422'))
  })

  it('has a badge to be copied', async () => {
    await counter.add('page_view', '/a b/ü', 12)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: counter.url })
    await open('page_view', '/a b/ü')
    await page.getByRole('button', { name: 'Copy' }).click()
    await shows('#copy-message', /^Copied\.$/)
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toBe(`![page_view](${counter.url}/badge/page_view/%2Fa%20b%2F%C3%BC.svg)`)
    expect(await (await fetch(copied.slice(13, -1))).text()).toContain('12')
    expect(await page.locator('#badge').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(20)
  })
})
