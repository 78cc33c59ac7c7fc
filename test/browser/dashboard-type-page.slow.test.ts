import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium } from './chromium.ts'
import { signedIn, tableRows, type Violations, watch } from './open-dashboard.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

const HOUR_MS = 3_600_000
/** Milliseconds in which a page shows a change. It polls every 5 s or 10 s, and backs off after failures. */
const LIVE_MS = 60_000

let browser: Browser
let counter: Counter
let context: BrowserContext
let page: Page
let violations: Violations
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
  violations = await watch(context, counter)
  page = await signedIn(context, counter)
})
afterEach(async () => {
  await context.close()
  await counter.clear()
  // After every test.
  expect(violations).toEqual({ foreign: [], messages: [] })
})

const shows = (selector: string, text: string | RegExp) =>
  expect.poll(() => page.textContent(selector), { timeout: LIVE_MS }).toMatch(text)

const table = (selector: string) => tableRows(page, selector)

describe('the page of a type', () => {
  it('compares today with yesterday up to the same hour, and shows the ranking and the chart', async () => {
    const now = Date.now()
    const thisHour = now - (now % HOUR_MS)
    const hoursToday = new Date(thisHour).getUTCHours()
    const midnight = thisHour - hoursToday * HOUR_MS
    const count = async (at: number, by: number, key: string) => {
      await counter.add('page_view', key, by)
      await counter.rollUp(new Date(at))
    }
    // Yesterday in its first hour, in this hour and in its last hour; today in this hour.
    await count(midnight - 24 * HOUR_MS, 1_000, '/old')
    await count(thisHour - 24 * HOUR_MS, 200, '/old')
    await count(midnight - 1, 30, '/old')
    await count(thisHour, 4, '/new')
    await page.reload()
    await shows('#today', /^4$/)
    // During the first hour of the day, nothing of yesterday is compared.
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

  it('follows counting and rolling up without a reload', async () => {
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

  it('shows the problems of the status until they are over', async () => {
    await counter.add('page_view', '/late', 1)
    await counter.rollUp(new Date(Date.now() - HOUR_MS))
    await shows('#problems', /roll-up/i)
    expect(await page.locator('#problems').isVisible()).toBe(true)
    if (process.env.SCREENSHOTS_FULL) await page.screenshot({ path: `${process.env.SCREENSHOTS_FULL}/problems.png` })
    await page.getByRole('button', { name: 'Roll up now' }).click()
    await shows('#problems', /^$/)
    expect(await page.locator('#problems').isVisible()).toBe(false)
  })

  it('shows the count under the pointer', async () => {
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

  it('finds counters by prefix, a page at a time, and links to them', async () => {
    for (let i = 10; i < 34; i++) await counter.add('page_view', `/found/${i}`, i)
    await counter.add('page_view', '/other', 1)
    await page.getByLabel('Key or prefix').fill('/found/')
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

    await page.goBack({ waitUntil: 'commit' })
    await page.getByLabel('Key or prefix').fill('/nothing')
    await page.getByLabel('Key or prefix').press('Enter')
    await shows('#search-message', /^No key begins with that\.$/)
    expect(await table('#found')).toEqual([])
  })

  it('reports that the Worker does not answer, keeps its numbers, and continues when it answers again', async () => {
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
    // The browser's own messages about failed requests.
    violations.messages = violations.messages.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))
  })

  it('sends no requests while it is hidden', async () => {
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
