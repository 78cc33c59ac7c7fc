import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HistoryRange, type HistoryUnit, historyRange } from '../../../../src/counters/history/history-range.ts'
import { noCounts, rowsOf, selectionsOf, startsOf, sumOf } from '../../../../src/counters/history/selection.ts'
import { TimeZone } from '../../../../src/counters/history/time-zone.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = new Date('2026-11-20T10:30:00Z')

const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
/** Counts of hours in about eight months, with clock changes in both hemispheres, and counts known only by day. */
const FIRST = Date.UTC(2026, 1, 20)
const hours = fc.array(fc.record({ hour: fc.nat(240 * 24 - 1), count: fc.bigInt(-1_000n, 1_000n) }), { maxLength: 200 })
const beyond = fc.array(fc.record({ day: fc.nat(239), count: fc.bigInt(-1_000n, 1_000n) }), { maxLength: 20 })

/** A row of the history. */
interface HistoryRow {
  unit: 'hour' | 'day' | 'month'
  start: number
  count: bigint
}

/** The rows of the history: hours, and days and months, which also include counts known only by day. */
function kept(
  ofHours: readonly { hour: number; count: bigint }[],
  ofDays: readonly { day: number; count: bigint }[],
): HistoryRow[] {
  const rows: HistoryRow[] = []
  const addToDays = (at: number, count: bigint) => {
    const date = new Date(at)
    rows.push({ unit: 'day', start: Math.floor(at / DAY) * DAY, count })
    rows.push({ unit: 'month', start: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()), count })
  }
  for (const { hour, count } of ofHours) {
    rows.push({ unit: 'hour', start: FIRST + hour * HOUR, count })
    addToDays(FIRST + hour * HOUR, count)
  }
  for (const { day, count } of ofDays) addToDays(FIRST + day * DAY, count)
  return rows
}

const rangeOf = (by: HistoryUnit, timeZone: string, from: string, to: string) =>
  historyRange({ by, timeZone, from, to }, NOW)
/** Sums the periods as a reader does: only from the rows that are read. */
const count = (range: HistoryRange, rows: readonly HistoryRow[], hoursFrom = 0) => {
  const selections = selectionsOf(range)
  const counts = noCounts()
  const read = new Set(
    [...rowsOf(selections, hoursFrom)].flatMap(([unit, times]) => startsOf(unit, times).map((at) => `${unit} ${at}`)),
  )
  for (const { unit, start, count } of rows) {
    if (read.has(`${unit} ${start}`)) counts[unit].set(start, (counts[unit].get(start) ?? 0n) + count)
  }
  return selections.map((selection) => sumOf(selection, counts))
}
const sum = (counts: readonly bigint[]) => counts.reduce((all, one) => all + one, 0n)

describe('Summing the periods of a range', () => {
  it('counts everything once in every time zone', () => {
    fc.assert(
      fc.property(fc.constantFrom('day', 'week', 'month'), zone, hours, beyond, (by, timeZone, ofHours, ofDays) => {
        const rows = kept(ofHours, ofDays)
        const all = sum(rows.filter(({ unit }) => unit === 'day').map(({ count }) => count))
        expect(sum(count(rangeOf(by, timeZone, '2026-02-01', '2026-12-01'), rows))).toBe(all)
      }),
      { numRuns: 300 },
    )
  })

  it('counts everything once by hour in adjacent ranges', () => {
    fc.assert(
      fc.property(zone, hours, beyond, (timeZone, ofHours, ofDays) => {
        const rows = kept(ofHours, ofDays)
        const months = ['02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12'].map(
          (month) => `2026-${month}-01T00:00:00Z`,
        )
        const parts = months
          .slice(1)
          .map((to, index) => sum(count(rangeOf('hour', timeZone, months[index]!, to), rows)))
        expect(sum(parts)).toBe(sum(rows.filter(({ unit }) => unit === 'day').map(({ count }) => count)))
      }),
      { numRuns: 100 },
    )
  })

  it('gives a month the sum of its days', () => {
    fc.assert(
      fc.property(zone, hours, beyond, fc.integer({ min: 3, max: 9 }), (timeZone, ofHours, ofDays, month) => {
        const rows = kept(ofHours, ofDays)
        const [from, to] = [`2026-0${month}-01`, month === 9 ? '2026-10-01' : `2026-0${month + 1}-01`]
        expect(sum(count(rangeOf('day', timeZone, from, to), rows))).toBe(
          count(rangeOf('month', timeZone, from, to), rows)[0],
        )
      }),
      { numRuns: 300 },
    )
  })

  it('gives a week the sum of its days, from Monday', () => {
    fc.assert(
      fc.property(zone, hours, beyond, fc.nat(30), (timeZone, ofHours, ofDays, week) => {
        const rows = kept(ofHours, ofDays)
        const monday = Date.UTC(2026, 1, 23) + week * 7 * DAY
        const [from, to] = [monday, monday + 7 * DAY].map((day) => new Date(day).toISOString().slice(0, 10))
        const weeks = count(rangeOf('week', timeZone, from!, to!), rows)
        expect(weeks).toEqual([sum(count(rangeOf('day', timeZone, from!, to!), rows))])
      }),
      { numRuns: 300 },
    )
  })

  it('puts an hour into the local day in which it begins', () => {
    fc.assert(
      fc.property(zone, hours, (timeZone, ofHours) => {
        // The calendar of the JavaScript engine, not of the library under test.
        const calendar = new Intl.DateTimeFormat('en-CA', {
          timeZone,
          year: 'numeric',
          month: '2-digit',
          day: '2-digit',
        })
        const expected = new Map<string, bigint>()
        for (const { hour, count } of ofHours) {
          const day = calendar.format(FIRST + hour * HOUR)
          expected.set(day, (expected.get(day) ?? 0n) + count)
        }
        const range = rangeOf('day', timeZone, '2026-02-01', '2026-12-01')
        const counts = count(range, kept(ofHours, []))
        for (const [period, edge] of range.edges.slice(0, -1).entries()) {
          const day = calendar.format(edge)
          expect([day, counts[period]]).toEqual([day, expected.get(day) ?? 0n])
        }
      }),
      { numRuns: 200 },
    )
  })

  it('gives the same in UTC from hours, days, weeks and months', () => {
    fc.assert(
      fc.property(fc.constantFrom('day', 'week', 'month'), hours, beyond, (by, ofHours, ofDays) => {
        const rows = kept(ofHours, ofDays)
        const utc = rangeOf(by, 'UTC', '2026-02-01', '2026-12-01')
        // A time zone that equals UTC, but whose days are summed from hours.
        expect(count({ ...utc, zone: new TimeZone('Africa/Abidjan') }, rows)).toEqual(count(utc, rows))
      }),
      { numRuns: 200 },
    )
  })

  it('is not changed in UTC by deleting old hours, and keeps all counts in every time zone', () => {
    fc.assert(
      fc.property(zone, hours, beyond, fc.nat(239), (timeZone, ofHours, ofDays, deletedDays) => {
        const rows = kept(ofHours, ofDays)
        const after = rows.filter(({ unit, start }) => unit !== 'hour' || start >= FIRST + deletedDays * DAY)
        for (const by of ['day', 'week', 'month'] as const) {
          const utc = rangeOf(by, 'UTC', '2026-02-01', '2026-12-01')
          expect(count(utc, after)).toEqual(count(utc, rows))
          const local = rangeOf(by, timeZone, '2026-02-01', '2026-12-01')
          expect(sum(count(local, after))).toBe(sum(count(local, rows)))
        }
      }),
      { numRuns: 200 },
    )
  })

  it('puts counts known only by day into the day of that date, and by hour into its first hour', () => {
    const rows = kept([{ hour: 5, count: 4n }], [{ day: 0, count: 7n }])
    expect(count(rangeOf('day', 'America/Los_Angeles', '2026-02-19', '2026-02-21'), rows)).toEqual([4n, 7n])
    expect(count(rangeOf('day', 'Pacific/Kiritimati', '2026-02-19', '2026-02-21'), rows)).toEqual([0n, 11n])
    expect(count(rangeOf('hour', 'UTC', '2026-02-20', '2026-02-20T06:00:00Z'), rows)).toEqual([7n, 0n, 0n, 0n, 0n, 4n])
  })
})
