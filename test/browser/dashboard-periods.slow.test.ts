import type { BrowserContext, Page } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { zoneByDay } from './local-days.ts'
import {
  chartRows,
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
    page_view: { record_type: 1, title: 'Page views', unit: 'views' },
    download: { record_type: 2, title: 'Downloads', unit: 'downloads' },
  },
})
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations

const keys = () => page.locator('#top tr th a:first-child').allTextContents()
const choose = (name: string) => page.getByRole('group', { name: 'Period' }).getByRole('button', { name }).click()

describe('the page of a type', () => {
  beforeEach(async () => {
    const options = { timezoneId: zoneByDay(), storageState: session }
    ;({ context, violations, page } = await watchedPage(browser, counter, options))
  })
  afterEach(async () => {
    await context.close()
    expect(violations).toEqual({ foreign: [], messages: [] })
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
    await choose('Other days')
    await choose('90 days')
    await shows(page, '#history-sum', /^1,204 views$/)
    await page.getByLabel('Filter').fill('/o')
    await page.getByLabel('Filter').press('Enter')
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
    expect(await page.getByRole('slider', { name: /^Chart of 3 views by month/ }).count()).toBe(1)
  })
})

it('a tile has the figure of its period, the change in a color with a sign, and the visitors', async () => {
  const own = await startCounter({
    COUNTERS: {
      view: { record_type: 1, unit: 'views', unit_one: 'view', also: 'visitor', prefixes: ['/a', '/b'] },
      visitor: { record_type: 2, unit: 'visitors', unit_one: 'visitor', dedupe_seconds: 60, prefixes: ['/a'] },
    },
  })
  ;({ context, violations } = await watchedPage(browser, own, { timezoneId: zoneByDay() }))
  const now = Date.now()
  for (const [back, views, visitors] of [
    [800, 7, 7],
    [400, 7, 7],
    [9, 8, 4],
    [2, 6, 2],
    [0, 1, 1],
  ] as const) {
    await own.add('view', '/a', views)
    await own.add('visitor', '/a', visitors)
    await own.rollUp(new Date(now - back * 24 * HOUR_MS))
  }
  page = await signedIn(context, own)
  await shows(page, '#history-sum', /^15 views$/)
  const tiles = page.locator('.tile')
  const texts = () =>
    tiles.evaluateAll((all) => all.map(({ textContent }) => textContent!.replaceAll(/\s+/g, ' ').trim()))
  expect(await texts()).toEqual([
    'Today 1 1 visitor',
    '7 days 7 ▼ 25% 3 visitors',
    '30 days 15 7 visitors',
    '12 months 15 ▲ 100% 7 visitors',
    'All time 29 21 visitors',
    'Other days ▾',
  ])
  const color = (id: string) => page.locator(id).evaluate((element) => getComputedStyle(element).color)
  expect(await color('#figure-7d-change')).not.toBe(await color('#figure-12m-change'))
  await page.getByRole('button', { name: /^Today/ }).click()
  await shows(page, '#history-sum', /^1 view$/)
  await shows(page, '#announcement', /: 1 view$/)
  expect(await page.getByRole('slider', { name: /^Chart of 1 view by hour/ }).count()).toBe(1)
  // The other type does not list this prefix.
  await page.getByRole('button', { name: '/b' }).click()
  await expect.poll(texts).toContain('All time 0')

  await page.getByRole('button', { name: 'Other days' }).click()
  await page.getByRole('button', { name: 'Yesterday' }).click()
  await settledNumbers(page)
  expect(new URL(page.url()).searchParams.get('period')).toBe('yesterday')
  await page.reload()
  const pressed = page.locator('#period [aria-pressed=true]')
  await expect.poll(() => pressed.allTextContents()).toEqual(['Other days\u00a0▾', 'Yesterday'])
  expect(await page.getByRole('button', { name: 'Yesterday' }).isVisible()).toBe(true)
  // On a phone nothing is cut off.
  await page.setViewportSize({ width: 320, height: 700 })
  // The chart is drawn again.
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  expect(violations).toEqual({ foreign: [], messages: [] })
})
