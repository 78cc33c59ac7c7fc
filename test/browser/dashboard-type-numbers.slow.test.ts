import type { Page } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
import { beforeAll, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { withinAnHour } from './local-days.ts'
import { chartRows, sessionOfFile, settledNumbers, shows, tableRows, watchedPage } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const HOUR_MS = 3_600_000

const browser = chromiumOfFile()
const counter = counterOfFile({
  COUNTERS: { page_view: { record_type: 1, title: 'Page views', unit: 'views' } },
  // Hours that are not kept count by their day in UTC.
  HISTORY: { hour_days: 900 },
})
const session = sessionOfFile(browser, counter)

const whole = (count: bigint | number) => count.toLocaleString('en-GB')
const digits = (text: string | null | undefined) => BigInt((text ?? '').replaceAll(/[^\d-]/g, ''))

describe('every number of a type’s page equals the database’s', () => {
  /** Clocks that are changed, by half an hour too, days that begin within an hour of UTC, and the first ones to begin. */
  const ZONES = [
    ...['UTC', 'Europe/Berlin', 'America/New_York', 'America/St_Johns'],
    ...['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia'],
  ]
  const counts: { key: string; at: number; by: number }[] = []

  beforeAll(async () => {
    const now = Date.now()
    const hour = now - (now % HOUR_MS)
    let state = 7
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state / 2 ** 31
    }
    const backs = [
      ...Array.from({ length: 34 }, (_, back) => back),
      ...Array.from({ length: 50 }, () => Math.floor(random() * 62 * 24)),
      ...Array.from({ length: 16 }, () => Math.floor(random() * 600 * 24)),
      // Before the year that the last 12 months are compared with.
      800 * 24,
      // The hours of a day on which the clocks were changed.
      ...Array.from({ length: 28 }, (_, i) => Math.round((hour - Date.UTC(2026, 9, 24, 20 + i)) / HOUR_MS)),
    ].filter((back) => back >= 0)
    for (const back of backs.sort((a, b) => b - a)) {
      const one = {
        key: `/page/${Math.floor(random() * 7)}`,
        at: hour - back * HOUR_MS,
        by: 1 + Math.floor(random() * 40),
      }
      counts.push(one)
      await counter.add('page_view', one.key, one.by)
      await counter.rollUp(new Date(Math.min(one.at + 60_000, now)))
    }
  })

  it.each(ZONES)('in %s', async (zone) => {
    const { page, violations } = await watchedPage(browser, counter, { timezoneId: zone, storageState: session })
    await withinAnHour(() => compare(page, zone))
    expect(violations).toEqual({ foreign: [], messages: [] })
  })

  async function compare(page: Page, zone: string): Promise<void> {
    const now = Temporal.Now.zonedDateTimeISO(zone)
    const midnight = (daysBack: number) =>
      now.toPlainDate().subtract({ days: daysBack }).toZonedDateTime(zone).epochMilliseconds
    const month = (back: number) =>
      now.toPlainDate().with({ day: 1 }).subtract({ months: back }).toZonedDateTime(zone).epochMilliseconds
    const sum = (from: number, to = Number.POSITIVE_INFINITY, key?: string) =>
      counts
        .filter((count) => count.at >= from && count.at < to && (key === undefined || count.key === key))
        .reduce((sum, { by }) => sum + by, 0)
    for (const [name, parameter, from, length, to] of [
      ['Today', 'today', midnight(0), 0],
      ['7 days', '7d', midnight(6), 7],
      ['30 days', '30d', midnight(29), 30],
      ['90 days', '90d', midnight(89), 90],
      ['12 months', '12m', month(11), 12],
      ['All time', 'all', 0, 0],
      ['Yesterday', 'yesterday', midnight(1), 0, midnight(0)],
      ['This month', 'month', month(0), 0],
      ['Last month', 'last-month', month(1), 0, month(0)],
    ] as [string, string, number, number, number?][]) {
      await page.goto(`${counter.url}/?period=${parameter}`)
      await settledNumbers(page)
      await shows(page, '#history-sum', new RegExp(`^${whole(sum(from, to))} views$`))
      // The figures are the same under every period.
      expect(await page.locator('.tile b').allTextContents(), name).toEqual(
        [sum(midnight(0)), sum(midnight(6)), sum(midnight(29)), sum(month(11)), sum(0)].map(whole),
      )
      const pressed = page.locator('#period button[value][aria-pressed=true]')
      expect(await pressed.evaluateAll((all) => all.map((button) => (button as HTMLButtonElement).value))).toEqual([
        parameter,
      ])
      // A day that has just begun within an hour of UTC has no whole hour yet.
      const hasRows = parameter !== 'today' || Math.ceil(from / HOUR_MS) * HOUR_MS <= now.epochMilliseconds
      const rows = hasRows ? await chartRows(page) : []
      const [own, before] = [1, 2].map((cell) => rows.map((row) => row.split(' | ')[cell]))
      expect(
        own!.reduce((sum, text) => sum + digits(text), 0n),
        name,
      ).toBe(BigInt(sum(from, to)))
      if (length > 0) expect(rows, name).toHaveLength(length)
      if (parameter === '7d' || parameter === '30d' || parameter === '90d') {
        expect(own, name).toEqual(rows.map((_, i) => whole(sum(midnight(length - 1 - i), midnight(length - 2 - i)))))
        // By whole weeks.
        const ago = length - 1 + Math.ceil(length / 7) * 7
        expect(before, name).toEqual(rows.map((_, i) => whole(sum(midnight(ago - i), midnight(ago - i - 1)))))
      }
      if (parameter === '12m') {
        expect(own, name).toEqual(rows.map((_, i) => whole(sum(month(11 - i), i === 11 ? undefined : month(10 - i)))))
        expect(before, name).toEqual(rows.map((_, i) => whole(sum(month(23 - i), month(22 - i)))))
      }
      if (parameter === 'today') {
        const hours = counts.filter(({ at }) => at >= from)
        for (const row of rows) {
          const [label = '', text] = row.split(' | ')
          const at = hours.filter(
            ({ at }) =>
              new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(at) ===
              label.slice(-5),
          )
          expect(digits(text), `${zone} ${label}`).toBe(BigInt(at.reduce((sum, { by }) => sum + by, 0)))
        }
      }
      const listed = Object.fromEntries(
        (await tableRows(page, '#top')).map((row) => {
          const [key = '', , count] = row.split(' | ')
          return [key, digits(count)]
        }),
      )
      const expected = [...new Set(counts.map(({ key }) => key))]
        .map((key) => [key, BigInt(sum(from, to, key))] as const)
        .filter(([, count]) => count > 0n)
      expect(listed, name).toEqual(Object.fromEntries(expected))
    }
    // What the ledger says is what the database has.
    const stored = await counter.counts()
    const total = Object.values(stored).reduce((sum, count) => sum + count, 0)
    expect(sum(0)).toBe(total)

    // Changes compare the same hours.
    await page.goto(counter.url)
    await settledNumbers(page)
    const hour = Math.max(midnight(0), Math.floor(now.epochMilliseconds / HOUR_MS) * HOUR_MS)
    const clock = Temporal.Instant.fromEpochMilliseconds(hour).toZonedDateTimeISO(zone)
    for (const [id, length, days] of [
      ['figure-today', 1, 1],
      ['figure-7d', 7, 7],
      ['figure-30d', 30, 35],
      ['history', 30, 35],
    ] as const) {
      const compared = sum(midnight(length - 1), hour)
      const before = sum(midnight(length - 1 + days), clock.subtract({ days }).epochMilliseconds)
      const change = page.locator(`#${id}-change`)
      const title = await change.getAttribute('title')
      // Just after midnight, no hour of today is over.
      const until = hour === midnight(0) ? 'the end of yesterday' : clock.toPlainTime().toString().slice(0, 5)
      expect(title, id).toBe(before === 0 ? '' : `${whole(compared)} after ${whole(before)}, both up to ${until}`)
      if (compared < 10 * before && Math.abs(compared / before - 1) > 0.01) {
        const [sign, name] = compared > before ? ['▲', 'up'] : ['▼', 'down']
        const percent = Math.round(Math.abs(compared / before - 1) * 100)
        expect(await change.textContent(), id).toMatch(new RegExp(`^${sign} ${percent}%`))
        expect(await change.getAttribute('class'), id).toBe(`growth ${name}`)
      }
    }
    await shows(page, '#history-change', /^\S+ \S+ against the same weekdays, 5 weeks earlier$/)
  }
})
