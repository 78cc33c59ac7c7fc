import { DAY_MS } from '../calendar.ts'
import { type HistoryRange, periodAt, periodOfDay } from './range.ts'

/** The count of one hour, day or month (UTC) in the history. */
export interface HistoryRow {
  unit: 'hour' | 'day' | 'month'
  /** When it begins, in milliseconds since 1970. */
  start: number
  count: bigint
}

/** Rows that a range needs: all of one unit that begin between two times, in milliseconds since 1970, `to` exclusive. */
export interface HistorySource {
  unit: 'hour' | 'day' | 'month'
  from: number
  to: number
}

/**
 * The rows that `sumPeriods` needs. The history has UTC days and months. All other periods are added up from hours, and need
 * the days as well for counts of which only the day is known.
 *
 * @param detailed whether the hours and days are wanted of UTC days and months too
 */
export function sourcesOf(range: HistoryRange, detailed = false): HistorySource[] {
  const [from, to] = [range.edges[0]!, range.edges.at(-1)!]
  if (!detailed && isStoredUnit(range)) return [{ unit: range.by, from, to }]
  // Whole UTC days, and one more on either side, because local time differs from UTC by less than a day.
  const days = { from: (Math.floor(from / DAY_MS) - 1) * DAY_MS, to: (Math.ceil(to / DAY_MS) + 1) * DAY_MS }
  return [
    { unit: 'day', ...days },
    { unit: 'hour', ...days },
  ]
}

function isStoredUnit({ by, zone }: HistoryRange): boolean {
  return by !== 'hour' && zone.name === 'UTC'
}

/**
 * Adds up the counts of each period of a range. An hour belongs to the period in which it begins.
 *
 * A day may hold more than the sum of its hours, because hours expire and imports have none. Of this remainder, only the day is
 * known. It belongs to the period with the day's name (that day, or its month), in any time zone. In a history by hours, it
 * belongs to the first hour of the day.
 *
 * @param rows the rows of `sourcesOf(range)`
 */
export function sumPeriods(range: HistoryRange, rows: readonly HistoryRow[]): bigint[] {
  const counts = Array.from({ length: range.edges.length - 1 }, () => 0n)
  const add = (period: number | undefined, count: bigint) => {
    if (period !== undefined) counts[period]! += count
  }
  if (isStoredUnit(range)) {
    for (const { start, count } of rows) add(periodAt(range, start), count)
    return counts
  }
  const remainders = new Map<number, bigint>()
  const addToRemainder = (day: number, count: bigint) => remainders.set(day, (remainders.get(day) ?? 0n) + count)
  for (const { unit, start, count } of rows) {
    if (unit === 'day') addToRemainder(start, count)
    if (unit === 'hour') {
      addToRemainder(Math.floor(start / DAY_MS) * DAY_MS, -count)
      add(periodAt(range, start), count)
    }
  }
  for (const [day, count] of remainders) if (count !== 0n) add(periodOfDay(range, day), count)
  return counts
}
