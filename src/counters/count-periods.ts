import { type HistoryRange, periodAt } from './history-range.ts'

/** What the history keeps of an hour, a day or a month (UTC) that begins then, in milliseconds since 1970. */
export interface HistoryRow {
  unit: 'hour' | 'day' | 'month'
  start: number
  count: bigint
}

/** Rows that a range takes: all of a unit that begin in a time, in milliseconds since 1970, `to` exclusive. */
export interface HistorySource {
  unit: 'hour' | 'day' | 'month'
  from: number
  to: number
}

const DAY_MS = 86_400_000

/**
 * The rows that `countPeriods` needs. Days and months in UTC are kept as such; all else takes hours, and the days they are part
 * of, for what is known by the day only.
 */
export function sourcesOf(range: HistoryRange): HistorySource[] {
  const [from, to] = [range.edges[0]!, range.edges.at(-1)!]
  if (keptAsSuch(range)) return [{ unit: range.by, from, to }]
  // Whole days in UTC, and one more on either side: clocks differ by less than a day.
  const days = { from: (Math.floor(from / DAY_MS) - 1) * DAY_MS, to: (Math.ceil(to / DAY_MS) + 1) * DAY_MS }
  return [
    { unit: 'day', ...days },
    { unit: 'hour', ...days },
  ]
}

function keptAsSuch({ by, timeZone }: HistoryRange): boolean {
  return by !== 'hour' && timeZone === 'UTC'
}

/**
 * Adds up what was counted in each period of a range. An hour belongs to the period in which it begins. What a day has
 * beyond its hours, because they were folded or it was imported, is known by the day only: it belongs to the period of that name
 * (the day, or the month that the day lies in, whatever the time zone), and in a history by hours to the day's first.
 *
 * @param rows those of `sourcesOf`
 */
export function countPeriods(range: HistoryRange, rows: readonly HistoryRow[]): bigint[] {
  const counts = Array.from({ length: range.edges.length - 1 }, () => 0n)
  const add = (period: number | undefined, count: bigint) => {
    if (period !== undefined) counts[period]! += count
  }
  if (keptAsSuch(range)) {
    for (const { start, count } of rows) add(periodAt(range, start), count)
    return counts
  }
  const beyond = new Map<number, bigint>()
  const addToDay = (day: number, count: bigint) => beyond.set(day, (beyond.get(day) ?? 0n) + count)
  for (const { unit, start, count } of rows) {
    if (unit === 'day') addToDay(start, count)
    if (unit === 'hour') {
      addToDay(Math.floor(start / DAY_MS) * DAY_MS, -count)
      add(periodAt(range, start), count)
    }
  }
  for (const [day, count] of beyond) {
    if (count === 0n) continue
    const name = new Date(day).toISOString()
    add(range.by === 'hour' ? periodAt(range, day) : range.named.get(name.slice(0, range.by === 'day' ? 10 : 7)), count)
  }
  return counts
}
