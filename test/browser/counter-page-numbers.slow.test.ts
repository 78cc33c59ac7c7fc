import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { launchChromium } from './chromium.ts'
import { dateIn, oddDays, plusDays } from './local-days.ts'
import { chartRows, counterUrl, signedIn } from './open-dashboard.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

/** Zones whose clocks change on different days. In the second one, days begin half an hour into an hour of the history. */
const ZONES = ['Europe/Berlin', 'America/St_Johns', 'Pacific/Auckland']
const KEY = '/counted'
const HOUR_MS = 3_600_000
const LIVE_MS = 60_000

let browser: Browser
let counter: Counter
beforeAll(async () => {
  ;[browser, counter] = await Promise.all([launchChromium(), startCounter({ HISTORY: { hour_days: 400 } })])
  const now = Date.now()
  const odd = ZONES.flatMap((zone) => oddDays(zone, now).flatMap(({ hours }) => hours))
  const edges = odd.flatMap((at) => [at - 24 * HOUR_MS, at, at + 24 * HOUR_MS])
  const recent = Array.from({ length: 62 }, (_, days) => now - (now % HOUR_MS) - days * 23 * HOUR_MS)
  // Every second hour, and a count that differs from that of any other.
  const hours = [...new Set([...edges, ...recent])].sort((a, b) => a - b).filter((_, index) => index % 2 === 0)
  for (const [index, hour] of hours.entries()) {
    await counter.add('page_view', KEY, 1 + index * index)
    await counter.rollUp(new Date(hour))
  }
  await counter.api('PUT', `/v1/counters/page_view/${encodeURIComponent(KEY)}`, { count: 12_345 })
  await counter.add('page_view', KEY, 7)
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
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
    count: pending + (await one('SELECT SUM(count) AS n FROM counter_totals')),
  }
}

const shown = (count: number) => count.toLocaleString('en-GB')

async function open(zone: string, parameters: Record<string, string> = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: zone })
  onTestFinished(() => context.close())
  const page = await signedIn(context, counter)
  await page.goto(`${counterUrl(counter, 'page_view', KEY)}&${new URLSearchParams(parameters)}`)
  return page
}

/** The counts in the chart's table, and those of the period before. */
async function tableOf(page: Page): Promise<{ counts: string[]; before: string[] }> {
  const cells = (await chartRows(page)).map((row) => row.split(' | '))
  return { counts: cells.map(([, count = '']) => count), before: cells.map(([, , before = '']) => before) }
}

describe.each(ZONES)('In %s, the numbers of a counter’s page are those of the database', (zone) => {
  const dateOf = dateIn(zone)

  it('today, in 7 and 30 days, and in all', async () => {
    const { hours, count } = await rowsOf(counter)
    const page = await open(zone)
    // The day may end meanwhile.
    const expected = () => {
      const today = dateOf(Date.now())
      const days = (length: number) =>
        shown(hours.reduce((sum, { at, count }) => sum + (dateOf(at) > plusDays(today, -length) ? count : 0), 0))
      return [days(1), days(7), days(30), shown(count)]
    }
    await expect
      .poll(
        async () => {
          const figures = await Promise.all(
            ['today', '7d', '30d', 'all'].map((name) => page.textContent(`#figure-${name}`)),
          )
          return figures.join() === expected().join()
        },
        { timeout: LIVE_MS },
      )
      .toBe(true)
    const { counts } = await tableOf(page)
    expect(counts).toHaveLength(30)
    expect(await page.textContent('#history-sum')).toContain(await page.textContent('#figure-30d'))
  })

  it('on days of 23 and 25 hours, and on the days around them', async () => {
    const { hours } = await rowsOf(counter)
    const odd = oddDays(zone, Date.now())
    expect(new Set(odd.map(({ hours }) => hours.length))).toEqual(new Set([23, 25]))
    for (const { date, hours: ofDay } of odd.slice(-2)) {
      const onDay = (date: string) => hours.reduce((sum, { at, count }) => sum + (dateOf(at) === date ? count : 0), 0)
      const [from, to] = [plusDays(date, -1), plusDays(date, 1)]
      const byDay = await open(zone, { from, to })
      const days = [from, date, to]
      await expect
        .poll(() => tableOf(byDay), { timeout: LIVE_MS })
        .toEqual({
          counts: days.map((day) => shown(onDay(day))),
          before: days.map((day) => shown(onDay(plusDays(day, -3)))),
        })
      const sum = days.reduce((sum, day) => sum + onDay(day), 0)
      expect(await byDay.textContent('#history-sum')).toBe(`${shown(sum)} views`)

      const byHour = await open(zone, { from: date, to: date })
      const inHour = (at: number) => hours.find((hour) => hour.at === at)?.count ?? 0
      await expect
        .poll(async () => (await tableOf(byHour)).counts, { timeout: LIVE_MS })
        .toEqual(ofDay.map((at) => shown(inHour(at))))
      expect(await byHour.textContent('#history-sum')).toBe(`${shown(onDay(date))} views`)
    }
  })

  it('in every month', async () => {
    const { hours } = await rowsOf(counter)
    const page = await open(zone, { period: '12m' })
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
    await expect.poll(async () => (await tableOf(page)).counts, { timeout: LIVE_MS }).toEqual(last12)
  })
})
