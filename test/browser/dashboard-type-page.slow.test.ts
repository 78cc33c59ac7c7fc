import type { BrowserContext, Page, Request } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
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

  it('follows one period, which stands in the address: reload, back and a shared link show the same', async () => {
    const now = Date.now()
    for (const [back, by, key] of [
      [0, 4, '/new'],
      [3 * 24, 200, '/old'],
      [40 * 24, 1_000, '/old'],
    ] as const) {
      await counter.add('page_view', key, by)
      await counter.rollUp(new Date(now - back * HOUR_MS))
    }
    await page.goto(counter.url)
    await shows(page, '#history-sum', /^204 views$/)
    expect(await keys()).toEqual(['/old', '/new'])
    await choose('Today')
    await shows(page, '#history-sum', /^4 views$/)
    await settledNumbers(page)
    expect(await keys()).toEqual(['/new'])
    expect(new URL(page.url()).search).toBe('?period=today')
    await choose('90 days')
    await shows(page, '#history-sum', /^1,204 views$/)
    await page.getByLabel('Keys that begin with').fill('/o')
    await page.getByRole('button', { name: 'Find' }).click()
    await expect.poll(keys).toEqual(['/old'])
    const shared = page.url()
    expect(new URL(shared).search).toBe('?period=90d&find=%2Fo')
    await page.goBack()
    await expect.poll(keys).toEqual(['/old', '/new'])
    await page.goBack()
    await shows(page, '#history-sum', /^4 views$/)
    await settledNumbers(page)
    expect(await page.getByRole('button', { name: 'Today' }).getAttribute('aria-pressed')).toBe('true')

    const other = await context.newPage()
    await other.goto(shared)
    await expect.poll(() => other.textContent('#history-sum')).toBe('1,204 views')
    await expect.poll(() => other.locator('#top tr').count()).toBe(1)
    expect(await other.inputValue('#find')).toBe('/o')
    // Other types keep the period.
    expect(await page.getByRole('link', { name: 'Downloads' }).getAttribute('href')).toContain('period=today')
  })

  it('shows any days, and says what is wrong with others', async () => {
    const now = Temporal.Now.plainDateISO(zoneByDay())
    await counter.add('page_view', '/then', 7)
    await counter.rollUp(new Date(Date.now() - 10 * 24 * HOUR_MS))
    await page.goto(counter.url)
    await choose('Other days')
    await page.getByLabel('From').fill(now.subtract({ days: 11 }).toString())
    await page.getByLabel('to', { exact: true }).fill(now.subtract({ days: 9 }).toString())
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await shows(page, '#history-sum', /^7 views$/)
    await expect.poll(async () => (await chartRows(page)).length).toBe(3)
    await page.getByLabel('From').fill(now.subtract({ days: 1_500 }).toString())
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await shows(page, '#history-message', /at most 999 days/)
    // What it still shows is not what was asked for.
    expect(await page.locator('.chart.stale').count()).toBe(1)
    violations.messages = violations.messages.filter((line) => !line.includes('422'))
  })

  it('dims what it shows until the numbers fit the pressed button', async () => {
    await counter.add('page_view', '/slow', 3)
    await counter.rollUp(new Date())
    await page.goto(counter.url)
    await shows(page, '#history-sum', /^3 views$/)
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/numbers?*', async (route) => {
      await held
      await route.continue()
    })
    await choose('12 months')
    expect(await page.locator('.chart.stale').count()).toBe(1)
    expect(await page.locator('#history').getAttribute('aria-busy')).toBe('true')
    answer()
    await settledNumbers(page)
    expect((await chartRows(page)).length).toBe(12)
    expect(await page.getByRole('img', { name: /^Chart: 3 views by month/ }).count()).toBe(1)
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
    await page.getByLabel('Keys that begin with').fill('/nothing')
    await page.getByLabel('Keys that begin with').press('Enter')
    await shows(page, '#top-message', /^No key begins with that/)
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

  it('shows the count under the pointer, within the chart', async () => {
    await counter.add('page_view', '/tip', 1_234)
    await counter.rollUp(new Date())
    await page.goto(counter.url)
    await shows(page, '#figure-today', /^1,234$/)
    const chart = page.locator('.chart')
    const { width } = (await chart.boundingBox())!
    await chart.hover({ position: { x: width - 4, y: 60 } })
    await shows(page, '.tip', /^1,234 .*\d{4}, not over yet/)
    const [tip, box] = [(await page.locator('.tip').boundingBox())!, (await chart.boundingBox())!]
    expect(tip.x + tip.width).toBeLessThanOrEqual(box.x + box.width + 1)
    await page.mouse.move(0, 0)
    await page.locator('.tip').waitFor({ state: 'hidden' })
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
    // The longest pause is 5 minutes, beginning with an answer.
    const later = quiet.slice(-6).reduce((sum, count) => sum + count, 0)
    expect(later).toBeGreaterThanOrEqual(1)
    expect(later).toBeLessThanOrEqual(4)
    asked.length = 0
    await setHidden(page, true)
    await page.clock.runFor(7 * 60_000)
    await mark()
    expect(asked).toEqual(['/healthz'])
    await change()
    await setHidden(page, false)
    await shows(page, '#figure-today', /^10$/)
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
  expect(await keys()).toEqual(['blog.example/', 'blog.example/a'])
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
