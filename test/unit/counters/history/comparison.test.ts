import { describe, expect, it } from 'vitest'
import { chosenPeriod } from '../../../../src/counters/history/chosen-period.ts'
import { comparePeriod } from '../../../../src/counters/history/comparison.ts'

const NOW = new Date('2026-11-26T10:30:00Z')

/** Compares a day by hours with the day before. Every hour counts as many as its place in the history, from 1. */
function previousOf(day: string, timeZone: string): (number | null)[] {
  const period = chosenPeriod({ name: 'custom', from: day, to: day }, timeZone, NOW)
  const units = period.range.edges.slice(1).map((_, i) => ({ count: BigInt(i + 1), soFar: null, imported: false }))
  return comparePeriod(period, units, NOW.getTime()).previous.map((count) => (count === null ? null : Number(count)))
}

const hours = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('A day by hours is compared by the clock', () => {
  it('with a day as long as itself', () => {
    expect(previousOf('2026-11-20', 'Europe/Berlin')).toEqual(hours(1, 24))
  })

  it('once, where hours of the clock come twice', () => {
    // 0, 1, 2, 2, 3 …
    expect(previousOf('2026-10-25', 'Europe/Berlin')).toEqual([1, 2, 3, null, ...hours(4, 24)])
    // 0, 1, 2, 1, 2, 3 …
    expect(previousOf('2026-10-25', 'Antarctica/Troll')).toEqual([1, 2, 3, null, null, ...hours(4, 24)])
  })

  it('with nothing, where the day before lacks an hour, and with both hours that it has twice', () => {
    expect(previousOf('2026-03-30', 'Europe/Berlin')).toEqual([1, 2, null, ...hours(3, 23)])
    expect(previousOf('2026-10-26', 'Europe/Berlin')).toEqual([1, 2, 7, ...hours(5, 25)])
  })
})
