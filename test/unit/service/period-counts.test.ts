import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startOf } from '../../../src/counters/calendar.ts'
import { noCounts, rowsOf, type Span } from '../../../src/counters/history/selection.ts'
import { type ChosenPeriod, chosenPeriod } from '../../../src/service/chosen-period.ts'
import { type HistoryReader, readPeriods } from '../../../src/service/period-counts.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** What was counted: in an hour, or imported for a day. */
interface Count {
  at: number
  imported: boolean
  amount: bigint
}

/** Reads the history of counts, and only what it is asked for. */
function readerOf(history: readonly Count[]): HistoryReader {
  return async (selections) => {
    const counts = noCounts()
    for (const [unit, times] of rowsOf(selections, 0)) {
      for (const { at, imported, amount } of history) {
        const start = startOf(unit, new Date(at)).getTime()
        if ((unit === 'hour' && imported) || !times.some(({ from, to }) => start >= from && start < to)) continue
        counts[unit].set(start, (counts[unit].get(start) ?? 0n) + amount)
      }
    }
    return { counts, pending: 0n, adjustments: [] }
  }
}

const zone = fc.constantFrom(
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'Australia/Lord_Howe'],
)
const now = fc.constantFrom(
  ...['2028-02-29T18:20:00Z', '2026-03-31T12:50:00Z', '2026-11-01T16:30:00Z', '2026-11-22T18:20:00Z'],
  ...['2026-10-25T02:10:00Z', '2026-04-10T03:30:00Z'],
)
const ago = fc.array(fc.record({ hours: fc.nat(800 * 24), amount: fc.bigInt(1n, 99n), imported: fc.boolean() }), {
  minLength: 1,
  maxLength: 200,
})

describe('What is counted of a period', () => {
  it('is what was counted in the spans that are compared, in every time zone', async () => {
    await fc.assert(
      fc.asyncProperty(zone, now, ago, fc.boolean(), async (timeZone, text, ago, imports) => {
        const now = Date.parse(text)
        const recent = Array.from({ length: 60 }, (_, hours) => ({ hours, amount: 1n, imported: false }))
        const counts = [...ago, ...recent].map(({ hours, amount, imported }): Count => {
          const at = now - (now % HOUR_MS) - hours * HOUR_MS
          return imports && imported
            ? { at: Math.floor(at / DAY_MS) * DAY_MS, amount, imported }
            : { at, amount, imported: false }
        })
        const sumOf = ({ from, to, firstDay, nextDay }: Span) =>
          counts
            .filter(({ at, imported }) => (imported ? at >= firstDay && at < nextDay : at >= from && at < to))
            .reduce((sum, { amount }) => sum + amount, 0n)
        const custom = { name: 'custom', from: '2025-09-20', to: '2025-12-03' } as const
        const periods = [...(['30d', '7d', 'today', '90d', '12m'] as const).map((name) => ({ name })), custom].map(
          (asked) => chosenPeriod(asked, timeZone, new Date(now)),
        )
        const { compared, units } = await readPeriods(readerOf(counts), periods, now)
        const expected = (period: ChosenPeriod, index: number) => {
          const spans = compared[index]!.spans
          return {
            count: sumOf(period),
            compared: spans && sumOf(spans.current),
            before: spans && sumOf(spans.before),
            spans,
          }
        }
        expect([timeZone, text, compared]).toEqual([timeZone, text, periods.map(expected)])
        // The units of a finished period add up to it, and those of its predecessor to that.
        const total = (all: readonly (bigint | null)[]) => all.reduce((sum: bigint, count) => sum + (count ?? 0n), 0n)
        expect(total(units.map(({ count }) => count))).toBe(compared.at(-1)!.count)
        if (compared.at(-1)!.spans !== null)
          expect(total(units.map(({ previous }) => previous))).toBe(compared.at(-1)!.before)
      }),
      { numRuns: 100 },
    )
  })
})

/** What a day by hours is compared with. Every hour from the first one of the day before on counts one more, from 1. */
async function previousOf(day: string, timeZone: string): Promise<(number | null)[]> {
  const now = new Date('2026-11-26T10:30:00Z')
  const period = chosenPeriod({ name: 'custom', from: day, to: day }, timeZone, now)
  const counts = period.range.edges.slice(0, -1).map((at, i) => ({ at, amount: BigInt(i + 1), imported: false }))
  const { units } = await readPeriods(readerOf(counts), [period], now.getTime())
  return units.map(({ previous }) => (previous === null ? null : Number(previous)))
}

const hours = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('A day by hours is compared by the clock', () => {
  it('with a day as long as itself', async () => {
    expect(await previousOf('2026-11-20', 'Europe/Berlin')).toEqual(hours(1, 24))
  })

  it('once, where hours of the clock come twice', async () => {
    // 0, 1, 2, 2, 3 …
    expect(await previousOf('2026-10-25', 'Europe/Berlin')).toEqual([1, 2, null, ...hours(3, 24)])
    // 0, 1, 2, 1, 2, 3 …
    expect(await previousOf('2026-10-25', 'Antarctica/Troll')).toEqual([1, 2, null, null, ...hours(3, 24)])
  })

  it('with nothing, where the day a week before lacks an hour, and with both hours that it has twice', async () => {
    expect(await previousOf('2026-04-05', 'Europe/Berlin')).toEqual([1, 2, null, ...hours(3, 23)])
    expect(await previousOf('2026-11-01', 'Europe/Berlin')).toEqual([1, 2, 7, ...hours(5, 25)])
  })
})
