import type { BrowserContext, Page, Request } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { zoneByDay } from './local-days.ts'
import {
  chartRows,
  openMenu,
  pollHurried,
  sessionOfFile,
  settledNumbers,
  shows,
  signedIn,
  type Violations,
  watchedPage,
} from './open-dashboard.ts'
import { counterOfFile, startCounter } from './shipped-worker.ts'

const HOUR_MS = 3_600_000

const browser = chromiumOfFile()
const counter = counterOfFile({
  COUNTERS: {
    page_view: {
      record_type: 1,
      public: true,
      allowed_origins: ['*'],
      title: 'Page views',
      unit: 'views',
      url: 'https://example.com',
    },
    download: { record_type: 2, public: true, title: 'Downloads', unit: 'downloads' },
  },
})
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

const keys = () => page.locator('#top tr th a:first-child').allTextContents()
const choose = (name: string) => page.getByRole('group', { name: 'Period' }).getByRole('button', { name }).click()

describe('the page of a type', () => {
  beforeEach(() => open(zoneByDay()))
  afterEach(async () => {
    await close()
    await counter.clear()
  })

  it('keeps focus and selected text when numbers change, and announces what was asked for', async () => {
    for (const [key, by] of [
      ['/a', 5],
      ['/b', 3],
    ] as const)
      await counter.add('page_view', key, by)
    await counter.rollUp(new Date())
    await page.goto(counter.url)
    await expect.poll(keys).toEqual(['/a', '/b'])
    const second = page.getByRole('link', { name: '/b', exact: true })
    const element = await second.elementHandle()
    await second.focus()
    await counter.add('page_view', '/b', 9)
    await counter.rollUp(new Date())
    // Comes back to the page, as from another tab.
    await comeBack(page)
    await pollHurried(page, keys).toEqual(['/b', '/a'])
    expect(await element!.evaluate((link) => link === document.activeElement && link.isConnected)).toBe(true)

    await page.evaluate(() => getSelection()!.selectAllChildren(document.querySelector('#top tr:nth-child(2) a')!))
    await counter.add('page_view', '/a', 90)
    await counter.rollUp(new Date())
    await comeBack(page)
    await shows(page, '#figure-today', /^107$/)
    expect(await page.evaluate(() => String(getSelection()))).toBe('/a')
    expect(await keys()).toEqual(['/b', '/a'])

    await choose('7 days')
    await shows(page, '#announcement', /: 107 views$/)
    await expect.poll(keys).toEqual(['/a', '/b'])
  })

  it('lists more on demand, with the focus on the first new row', async () => {
    const increments = Array.from({ length: 34 }, (_, i) => ({ type: 'page_view', key: `/row/${i}`, by: 1_000 - i }))
    await counter.api('POST', '/v1/increments', { increments })
    await counter.rollUp(new Date())
    await page.goto(counter.url)
    await expect.poll(() => page.locator('#top tr').count()).toBe(10)
    const more = page.getByRole('button', { name: 'Show more' })
    await more.click()
    await expect.poll(() => page.locator('#top tr').count()).toBe(30)
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('/row/10')
    // Other units and counts of the chart leave the list as it is.
    await page.getByLabel('Units of the chart').selectOption('week')
    await expect.poll(() => page.getAttribute('#history', 'aria-label')).toContain('by week')
    expect(await page.locator('#top tr').count()).toBe(30)
    await more.click()
    await expect.poll(() => page.locator('#top tr').count()).toBe(34)
    expect(await more.isVisible()).toBe(false)
    // Each row leads to its counter, and to the page itself.
    const out = page.getByRole('link', { name: 'Open the page /row/33' })
    expect(await out.getAttribute('href')).toBe('https://example.com/row/33')
    await page.getByRole('link', { name: '/row/33', exact: true }).click()
    await page.waitForSelector('main[data-page=counter]')
    expect(await page.textContent('h1')).toBe('/row/33')

    await page.goBack()
    await page.getByLabel('Filter').fill('/nothing')
    await page.getByLabel('Filter').press('Enter')
    await shows(page, '#top-message', /^Nothing found in this period/)
    expect(await keys()).toEqual([])
  })

  it('has its roll-up in the menu, where it rolls up', async () => {
    await page.goto(counter.url)
    await shows(page, '#pending', /^0$/)
    await counter.add('page_view', '/live', 5)
    await openMenu(page)
    await shows(page, '#pending', /^1$/)
    await page.getByRole('button', { name: 'Roll up now' }).click()
    await shows(page, '#live-message', /^Rolled up 5\.$/)
    await shows(page, '#pending', /^0$/)
    await shows(page, '#lag', /^caught up/)
    await shows(page, '#figure-today', /^5$/)
    await page.keyboard.press('Escape')
    expect(await page.locator('#pending').isVisible()).toBe(false)
  })

  it('speaks up when something is wrong, until it is over', async () => {
    await counter.add('page_view', '/late', 1)
    await counter.rollUp(new Date(Date.now() - HOUR_MS))
    await page.goto(counter.url)
    await shows(page, '#problems', /roll-up/i)
    expect(await page.locator('#problems').isVisible()).toBe(true)
    expect(await page.locator('#state').getAttribute('data-state')).toBe('problem')
    await openMenu(page)
    await page.getByRole('button', { name: 'Roll up now' }).click()
    await shows(page, '#problems', /^$/)
    expect(await page.locator('#problems').isVisible()).toBe(false)
    await shows(page, '#state-text', /^Live/)
  })

  it('says when it is offline, keeps its numbers, and goes on when it is back', async () => {
    await counter.add('page_view', '/kept', 5)
    await counter.rollUp(new Date())
    await page.goto(counter.url)
    await shows(page, '#figure-today', /^5$/)
    await context.setOffline(true)
    await choose('7 days')
    await shows(page, '#history-message', /^You are offline\./)
    expect(await page.textContent('#figure-today')).toBe('5')
    await context.setOffline(false)
    await shows(page, '#history-message', /^$/)
    await settledNumbers(page)
    expect((await chartRows(page)).length).toBe(7)
    // The browser's own messages about failed requests.
    violations.messages = violations.messages.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))
  })

  it('says in the place of the numbers what is wrong and what happens next, not what the API says', async () => {
    await counter.add('page_view', '/there', 5)
    await counter.rollUp(new Date())
    const later = ' This page updates as soon as it can.'
    await page.route('**/numbers?*', (route) => route.abort())
    await page.goto(`${counter.url}/?from=2026-01-01&to=2026-01-07`)
    await shows(page, '#history-message', `The Worker does not answer.${later}`)
    expect(await page.locator('#history').isVisible()).toBe(false)
    await page.unroute('**/numbers?*')
    await shows(page, '#history-message', /^$/)
    expect(await page.locator('#history').isVisible()).toBe(true)

    // A type that is no longer configured.
    await page.route('**/numbers?*', (route) =>
      route.continue({ url: route.request().url().replace('type=page_view', 'type=gone') }),
    )
    await choose('Today')
    await shows(page, '#history-message', 'This type is not counted any more. Choose another one above.')
    await page.unroute('**/numbers?*')
    await choose('7 days')
    await shows(page, '#history-sum', /^5 views$/)

    await context.clearCookies()
    await choose('Today')
    await shows(page, '#history-message', 'Sign in again.')
    expect(await page.getByRole('link', { name: 'Sign in again.' }).count()).toBe(1)
    violations.messages = violations.messages.filter((line) => !/ERR_FAILED|40[14]/.test(line))
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
  afterEach(async () => {
    await close()
    await counter.clear()
  })

  it('asks at most 6 times a minute, less while nothing changes, and never while it is hidden', async () => {
    const change = async () => {
      await counter.add('page_view', '/open', 1)
      await counter.rollUp(new Date())
    }
    await change()
    await open(zoneByDay())
    await page.goto(counter.url)
    await shows(page, '#figure-today', /^1$/)
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
    for (const [period, today] of [
      ['12 months', '10'],
      ['Yesterday', '11'],
    ] as const) {
      await choose('Other days')
      await choose(period)
      await settledNumbers(page)
      await inMinutes(3)
      await change()
      const [requests] = await inMinutes(1)
      expect(requests).toBeLessThanOrEqual(6)
      expect(await page.textContent('#figure-today')).toBe(today)
    }
    asked.length = 0
    await setHidden(page, true)
    await page.clock.runFor(7 * 60_000)
    await mark()
    expect(asked).toEqual(['/healthz'])
    await change()
    await setHidden(page, false)
    await shows(page, '#figure-today', /^12$/)
  })
})

it('a type with prefixes shows the figures, the chart and the keys of each', async () => {
  const own = await startCounter({
    COUNTERS: { view: { record_type: 1, unit: 'views', prefixes: ['blog.example/', 'shop.example/'] } },
  })
  ;({ context, violations } = await watchedPage(browser, own, { timezoneId: 'UTC' }))
  for (const [key, by] of [
    ['blog.example/', 3],
    ['blog.example/a', 4],
    ['shop.example/', 50],
  ] as const) {
    await own.add('view', key, by)
  }
  await own.api('POST', '/v1/rollup')
  page = await signedIn(context, own)
  await shows(page, '#history-sum', /^57 views$/)
  const prefixes = page.getByRole('group', { name: 'Keys' }).getByRole('button')
  expect(await prefixes.allTextContents()).toEqual(['All', 'blog.example/', 'shop.example/'])
  await prefixes.nth(1).click()
  await shows(page, '#history-sum', /^7 views$/)
  await settledNumbers(page)
  expect([await page.textContent('#figure-today'), await page.textContent('#figure-all')]).toEqual(['7', '7'])
  expect(await keys()).toEqual(['blog.example/a', 'blog.example/'])
  const pressed = () => prefixes.evaluateAll((all) => all.map((button) => button.getAttribute('aria-pressed')))
  expect(await pressed()).toEqual(['false', 'true', 'false'])
  expect(new URL(page.url()).searchParams.get('find')).toBe('blog.example/')
  await page.reload()
  await shows(page, '#history-sum', /^7 views$/)
  await prefixes.first().click()
  await shows(page, '#history-sum', /^57 views$/)
  expect(await pressed()).toEqual(['true', 'false', 'false'])
  expect(violations).toEqual({ foreign: [], messages: [] })
})
