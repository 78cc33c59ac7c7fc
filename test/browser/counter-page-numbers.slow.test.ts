import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { chromiumOfFile } from './chromium.ts'
import { dateIn, oddDays, plusDays, withinAnHour } from './local-days.ts'
import { chartRows, counterUrl, sessionOfFile } from './open-dashboard.ts'
import { type Counter, counterOfFile } from './shipped-worker.ts'

/** Zones whose clocks change on different days. In the second one, days begin half an hour into an hour of the history. */
const ZONES = ['Europe/Berlin', 'America/St_Johns', 'Pacific/Auckland']
const KEY = '/counted'
const HOUR_MS = 3_600_000

const browser = chromiumOfFile()
const counter = counterOfFile({ HISTORY: { hour_days: 400 } })
const session = sessionOfFile(browser, counter)
beforeAll(async () => {
  const now = Date.now()
  // Of each odd day: its beginning, in which the clocks change, its middle and its end. Around it, what borders on it or is compared.
  const odd = ZONES.flatMap((zone) =>
    oddDays(zone, now)
      .slice(-2)
      .flatMap(({ hours }) => {
        const [first, last] = [hours[0]!, hours.at(-1)!]
        const around = [first - 60 * HOUR_MS, first - HOUR_MS, last + HOUR_MS, last + 2 * HOUR_MS]
        return [...around, ...hours.slice(0, 5), hours[12]!, ...hours.slice(-2)]
      }),
  )
  // Before all that is compared.
  const oldest = now - (now % HOUR_MS) - 395 * 24 * HOUR_MS
  const recent = Array.from({ length: 31 }, (_, index) => now - (now % HOUR_MS) - index * 46 * HOUR_MS)
  // A count that differs from that of any other hour.
  const hours = [...new Set([oldest, ...odd, ...recent])].filter((hour) => hour <= now).sort((a, b) => a - b)
  for (const [index, hour] of hours.entries()) {
    await counter.add('page_view', KEY, 1 + index * index)
    await counter.rollUp(new Date(hour))
  }
  await counter.api('PUT', `/v1/counters/page_view/${encodeURIComponent(KEY)}`, { count: 12_345 })
  await counter.add('page_view', KEY, 7)
})

/** The rows of the database: what was counted in each hour, and the count. */
async function rowsOf({ databaseUrl }: Counter) {
  const db = openDatabase({ url: databaseUrl, deadlineMs: 30_000 })
  const one = async (sql: string) => Number((await db.execute(sql)).rows[0]!.n)
  const { rows } = await db.execute(
    "SELECT DATE_FORMAT(period_start, '%Y-%m-%dT%H:00:00Z') AS hour, count FROM counter_history",
  )
  const pending = await one('SELECT SUM(count) AS n FROM slotted_counters')
  const hours = rows.map(({ hour, count }) => ({ at: Date.parse(String(hour)), count: Number(count) }))
  return {
    // What is pending belongs to the present hour.
    hours: [...hours, { at: Date.now(), count: pending }],
    count: pending + (await one('SELECT SUM(count) AS n FROM counters')),
  }
}

const shown = (count: number) => count.toLocaleString('en-GB')

const addressOf = (parameters: Record<string, string> = {}) =>
  `${counterUrl(counter, 'page_view', KEY)}&${new URLSearchParams(parameters)}`

/** The counts in the chart's table, and those of the period before. */
async function tableOf(page: Page): Promise<{ counts: string[]; before: string[] }> {
  const cells = (await chartRows(page)).map((row) => row.split(' | '))
  return { counts: cells.map(([, count = '']) => count), before: cells.map(([, , before = '']) => before) }
}

describe.each(ZONES)('In %s, the numbers of a counter’s page are those of the database', (zone) => {
  const dateOf = dateIn(zone)
  let context: BrowserContext
  let page: Page
  beforeAll(async () => {
    context = await browser.newContext({ locale: 'en-GB', timezoneId: zone, storageState: session })
    page = await context.newPage()
  })
  afterAll(() => context?.close())

  it('today, in 7 and 30 days, and in all', () =>
    withinAnHour(async () => {
      const { hours, count } = await rowsOf(counter)
      await page.goto(addressOf())
      const today = dateOf(Date.now())
      const days = (length: number) =>
        shown(hours.reduce((sum, { at, count }) => sum + (dateOf(at) > plusDays(today, -length) ? count : 0), 0))
      await expect
        .poll(() => Promise.all(['today', '7d', '30d', 'all'].map((name) => page.textContent(`#figure-${name}`))))
        .toEqual([days(1), days(7), days(30), shown(count)])
      const { counts } = await tableOf(page)
      expect(counts).toHaveLength(30)
      expect(await page.textContent('#history-sum')).toContain(await page.textContent('#figure-30d'))
    }))

  it('on days of 23 and 25 hours, and on the days around them', async () => {
    const { hours } = await rowsOf(counter)
    const odd = oddDays(zone, Date.now())
    expect(new Set(odd.map(({ hours }) => hours.length))).toEqual(new Set([23, 25]))
    for (const { date, hours: ofDay } of odd.slice(-2)) {
      const onDay = (date: string) => hours.reduce((sum, { at, count }) => sum + (dateOf(at) === date ? count : 0), 0)
      const [from, to] = [plusDays(date, -1), plusDays(date, 1)]
      await page.goto(addressOf({ from, to }))
      const days = [from, date, to]
      await expect
        .poll(() => tableOf(page))
        .toEqual({
          counts: days.map((day) => shown(onDay(day))),
          before: days.map((day) => shown(onDay(plusDays(day, -3)))),
        })
      const sum = days.reduce((sum, day) => sum + onDay(day), 0)
      expect(await page.textContent('#history-sum')).toBe(`${shown(sum)} views`)

      await page.goto(addressOf({ from: date, to: date }))
      const inHour = (at: number) => hours.find((hour) => hour.at === at)?.count ?? 0
      await expect.poll(async () => (await tableOf(page)).counts).toEqual(ofDay.map((at) => shown(inHour(at))))
      expect(await page.textContent('#history-sum')).toBe(`${shown(onDay(date))} views`)
    }
  })

  it('in every month', () =>
    withinAnHour(async () => {
      const { hours } = await rowsOf(counter)
      await page.goto(addressOf({ period: '12m' }))
      const months = new Map<string, number>()
      for (const { at, count } of hours) {
        const month = dateOf(at).slice(0, 7)
        months.set(month, (months.get(month) ?? 0) + count)
      }
      const now = dateOf(Date.now())
      const last12 = Array.from({ length: 12 }, (_, index) => {
        const month = new Date(Date.UTC(Number(now.slice(0, 4)), Number(now.slice(5, 7)) - 12 + index, 1))
        return shown(months.get(month.toISOString().slice(0, 7)) ?? 0)
      })
      await expect.poll(async () => (await tableOf(page)).counts).toEqual(last12)
    }))
})
