import type { BrowserContext, Page, Request } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { midnightIn, zoneByDay } from './local-days.ts'
import {
  chartRows,
  pollHurried,
  sessionOfFile,
  settledNumbers,
  shows,
  signedIn,
  type Violations,
  watchedPage,
} from './open-dashboard.ts'
import { rankingOf, sampleCounter, sumOf } from './sample-counter.ts'
import { startCounter } from './shipped-worker.ts'

const HOUR_MS = 3_600_000

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations

/** Makes a page in a browser that is signed in. */
async function open(timezoneId: string): Promise<void> {
  ;({ context, violations, page } = await watchedPage(browser, counter, { timezoneId, storageState: session }))
}

/** Ends the open context, which must have done nothing wrong. */
async function close(): Promise<void> {
  await context.close()
  expect(violations).toEqual({ foreign: [], messages: [] })
}

const whole = (count: number) => count.toLocaleString('en-GB')
const digits = (text: string | null) => Number(text!.replaceAll(/\D/g, ''))
/** What the first tile shows, once it does. */
async function viewsToday(): Promise<number> {
  await shows(page, '#figure-today', /\d/)
  return digits(await page.textContent('#figure-today'))
}
const midnight = midnightIn(zoneByDay())
const keys = () => page.locator('#top .whole').allTextContents()
const choose = (name: string) => page.getByRole('group', { name: 'Period' }).getByRole('button', { name }).click()

describe('the page of a type', () => {
  beforeEach(() => open(zoneByDay()))
  afterEach(close)

  it('keeps focus and selected text when numbers change, and announces what was asked for', async () => {
    await page.goto(counter.url)
    await expect.poll(async () => (await keys()).length).toBe(10)
    const [first, second, ...rest] = (await keys()) as [string, string, ...string[]]
    const [today, week] = await Promise.all(
      ['#figure-today', '#figure-7d'].map(async (id) => digits(await page.textContent(id))),
    )
    const link = page.getByRole('link', { name: second, exact: true })
    const element = await link.elementHandle()
    await link.focus()
    await counter.add('page_view', second, 100_000)
    await counter.rollUp(new Date())
    // Comes back to the page, as from another tab.
    await comeBack(page)
    await pollHurried(page, keys).toEqual([second, first, ...rest])
    expect(await element!.evaluate((link) => link === document.activeElement && link.isConnected)).toBe(true)

    await page.evaluate(() => getSelection()!.selectAllChildren(document.querySelector('#top tr:nth-child(2) a')!))
    await counter.add('page_view', first, 200_000)
    await counter.rollUp(new Date())
    await comeBack(page)
    await shows(page, '#figure-today', whole(today! + 300_000))
    expect(await page.evaluate(() => String(getSelection()))).toBe(first)
    expect(await keys()).toEqual([second, first, ...rest])

    await choose('7 days')
    await shows(page, '#announcement', `: ${whole(week! + 300_000)} views`)
    await expect.poll(async () => (await keys()).slice(0, 2)).toEqual([first, second])
  })

  it('lists more on demand, with the focus on the first new row', async () => {
    const ranked = (await rankingOf(counter, 'page_view', { from: midnight(29) })).filter(({ key }) =>
      key.startsWith('/docs/'),
    )
    await page.goto(`${counter.url}/?find=/docs/`)
    await expect.poll(() => page.locator('#top tr').count()).toBe(10)
    const more = page.getByRole('button', { name: 'Show more' })
    await more.click()
    await expect.poll(() => page.locator('#top tr').count()).toBe(30)
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(ranked[10]!.key)
    // Other units and counts of the chart leave the list as it is.
    await page.getByLabel('Units of the chart').selectOption('week')
    await expect.poll(() => page.getAttribute('#history', 'aria-label')).toContain('by week')
    expect(await page.locator('#top tr').count()).toBe(30)
    for (const rows of [50, 70, 80]) {
      await more.click()
      await expect.poll(() => page.locator('#top tr').count()).toBe(rows)
    }
    expect(await more.isVisible()).toBe(false)
    expect(await keys()).toEqual(ranked.map(({ key }) => key))
  })

  it('says when it is offline, keeps its numbers, and goes on when it is back', async () => {
    await page.goto(counter.url)
    const today = await viewsToday()
    await context.setOffline(true)
    await choose('7 days')
    await shows(page, '#history-message', /^You are offline\./)
    expect(await page.textContent('#figure-today')).toBe(whole(today))
    await context.setOffline(false)
    await shows(page, '#history-message', /^$/)
    await settledNumbers(page)
    expect((await chartRows(page)).length).toBe(7)
    // The browser's own messages about failed requests.
    violations.messages = violations.messages.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))
  })

  it('says in the place of the numbers what is wrong and what happens next', async () => {
    const later = ' This page updates as soon as it can.'
    await page.route('**/numbers?*', (route) => route.abort())
    await page.goto(`${counter.url}/?from=2026-01-01&to=2026-01-07`)
    await shows(page, '#history-message', `The Worker does not answer.${later}`)
    expect(await page.locator('#history').isVisible()).toBe(false)
    await page.unroute('**/numbers?*')
    await shows(page, '#history-message', /^$/)
    expect(await page.locator('#history').isVisible()).toBe(true)

    // Something in front of the Worker.
    await page.route('**/numbers?*', (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }))
    await choose('7 days')
    await shows(page, '#history-message', `The Worker answered 502.${later}`)
    await page.unroute('**/numbers?*')

    // A type that is no longer configured.
    await page.route('**/numbers?*', (route) =>
      route.continue({ url: route.request().url().replace('type=page_view', 'type=gone') }),
    )
    await choose('Today')
    await shows(page, '#history-message', 'This type is not counted any more. Choose another one above.')
    await page.unroute('**/numbers?*')
    await choose('7 days')
    await shows(page, '#history-sum', / views$/)

    await context.clearCookies()
    await choose('Today')
    await shows(page, '#history-message', 'Sign in again.')
    expect(await page.getByRole('link', { name: 'Sign in again.' }).count()).toBe(1)
    violations.messages = violations.messages.filter((line) => !/ERR_FAILED|40[14]|502/.test(line))
  })

  it('shows the figures, the chart and the keys of each prefix', async () => {
    const ranked = await rankingOf(counter, 'page_view', { from: midnight(29) })
    const docs = ranked.filter(({ key }) => key.startsWith('/docs/'))
    const all = await rankingOf(counter, 'page_view', 'totals')
    await page.goto(counter.url)
    await shows(page, '#history-sum', `${whole(sumOf(ranked))} views`)
    const prefixes = page.getByRole('group', { name: 'Keys' }).getByRole('button')
    expect(await prefixes.allTextContents()).toEqual(['All', '/blog/', '/docs/'])
    await prefixes.nth(2).click()
    await shows(page, '#history-sum', `${whole(sumOf(docs))} views`)
    await settledNumbers(page)
    expect(await page.textContent('#figure-30d')).toBe(whole(sumOf(docs)))
    expect(await page.textContent('#figure-all')).toBe(whole(sumOf(all.filter(({ key }) => key.startsWith('/docs/')))))
    expect(await keys()).toEqual(docs.slice(0, 10).map(({ key }) => key))
    const pressed = () => prefixes.evaluateAll((all) => all.map((button) => button.getAttribute('aria-pressed')))
    expect(await pressed()).toEqual(['false', 'false', 'true'])
    expect(new URL(page.url()).searchParams.get('find')).toBe('/docs/')
    await page.reload()
    await shows(page, '#history-sum', `${whole(sumOf(docs))} views`)
    await prefixes.first().click()
    await shows(page, '#history-sum', `${whole(sumOf(ranked))} views`)
    expect(await pressed()).toEqual(['true', 'false', 'false'])
  })
})

/** Hides the page, as another tab in front of it does, or shows it again. */
function setHidden(page: Page, hidden: boolean): Promise<void> {
  return page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}

/** Hides the page and shows it again, as somebody does who looks at another tab for a while. */
async function comeBack(page: Page): Promise<void> {
  await setHidden(page, true)
  await setHidden(page, false)
}

describe('a page that stays open', () => {
  afterEach(close)

  it('asks at most 6 times a minute, less while nothing changes, and never while it is hidden', async () => {
    const change = async () => {
      await counter.add('page_view', '/about', 1)
      await counter.rollUp(new Date())
    }
    await open(zoneByDay())
    await page.goto(counter.url)
    const today = await viewsToday()
    await expect.poll(() => page.locator('#state').getAttribute('data-state')).toBe('well')
    const asked: string[] = []
    const unanswered = new Set<Request>()
    page.on('request', (request) => {
      asked.push(new URL(request.url()).pathname)
      unanswered.add(request)
    })
    page.on('requestfinished', (request) => unanswered.delete(request))
    page.on('requestfailed', (request) => unanswered.delete(request))
    /** Sends a request from the page. What the page had sent before is in the list when this is answered. */
    const mark = () => page.evaluate(() => fetch('/healthz').then((answer) => answer.text()))
    // From here on, the page's time stands still while the test waits. So a slow machine does not add to its minutes.
    await page.clock.pauseAt(Date.now() + 24 * HOUR_MS)
    await mark()
    await expect.poll(() => unanswered.size).toBe(0)
    /** How often it asks in each of some minutes. */
    const inMinutes = async (minutes: number, everyHalf: () => Promise<void> = async () => {}) => {
      const counts: number[] = []
      for (let minute = 0; minute < minutes; minute++) {
        asked.length = 0
        for (let second = 0; second < 60; second += 5) {
          if (second % 30 === 0) await everyHalf()
          await page.clock.runFor(5_000)
          // While a request is under way, the page sends no other.
          await expect.poll(() => unanswered.size).toBe(0)
        }
        counts.push(asked.length)
      }
      return counts
    }
    // While every answer is another one, each pause takes 30 s.
    const busy = await inMinutes(4, change)
    expect(Math.max(...busy)).toBeLessThanOrEqual(6)
    expect(Math.min(...busy)).toBeGreaterThanOrEqual(1)
    const quiet = await inMinutes(15)
    expect(Math.max(...quiet)).toBeLessThanOrEqual(6)
    // The longest pauses are a minute for the numbers and 5 minutes for the roll-up, beginning with an answer.
    const later = quiet.slice(-6).reduce((sum, count) => sum + count, 0)
    expect(later).toBeGreaterThanOrEqual(5)
    expect(later).toBeLessThanOrEqual(9)
    // Today's tile also follows after a quiet time, in every period.
    for (const [period, more] of [
      ['12 months', 9],
      ['Yesterday', 10],
    ] as const) {
      await choose('Other days')
      await choose(period)
      await settledNumbers(page)
      await inMinutes(3)
      await change()
      const [requests] = await inMinutes(1)
      expect(requests).toBeLessThanOrEqual(6)
      expect(await page.textContent('#figure-today')).toBe(whole(today + more))
    }
    asked.length = 0
    await setHidden(page, true)
    await page.clock.runFor(7 * 60_000)
    await mark()
    expect(asked).toEqual(['/healthz'])
    await change()
    await setHidden(page, false)
    await shows(page, '#figure-today', whole(today + 11))
  })
})

it('the page speaks up when something is wrong, until it is over', async () => {
  const own = await startCounter()
  ;({ context, violations } = await watchedPage(browser, own, { timezoneId: 'UTC' }))
  await own.add('page_view', '/late', 1)
  await own.rollUp(new Date(Date.now() - HOUR_MS))
  page = await signedIn(context, own)
  await shows(page, '#problems', /roll-up/i)
  expect(await page.locator('#problems').isVisible()).toBe(true)
  expect(await page.locator('#state').getAttribute('data-state')).toBe('problem')
  await own.rollUp(new Date())
  await page.reload()
  await shows(page, '#problems', /^$/)
  expect(await page.locator('#problems').isVisible()).toBe(false)
  await shows(page, '#state-text', /^Live/)
  await close()
})
