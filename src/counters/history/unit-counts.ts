import { type HistoryRange, periodAt } from './range.ts'
import { type HistoryRow, sumPeriods } from './sum-periods.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A row of the history, and how much of it was imported with nothing but its day. */
export interface DetailedRow extends HistoryRow {
  imported: bigint
}

/** What was counted in one unit of a period: an hour, a day or a month. */
export interface UnitCount {
  count: bigint
  /** What had been counted when the unit was as old as the present one is now, in whole hours; `null`: that is not known. */
  soFar: bigint | null
  /** Whether part of it was imported. */
  imported: boolean
}

/**
 * Adds up the units of a range, so that a unit that is not over can be compared with the same part of others.
 *
 * @param rows the days and hours of the range, as `sourcesOf(range, true)` names them
 * @param hoursSince from then on, every day that was counted has its hours: what a day has beyond them was imported
 */
export function unitCounts(
  range: HistoryRange,
  rows: readonly DetailedRow[],
  now: number,
  hoursSince = Number.POSITIVE_INFINITY,
): UnitCount[] {
  const { by, zone } = range
  const counts = sumPeriods(range, rows, true)
  const units: UnitCount[] = counts.map((count) => ({ count, soFar: by === 'hour' ? null : 0n, imported: false }))
  const indexOfDay = (day: number) =>
    by === 'hour'
      ? periodAt(range, day)
      : range.indexByName.get(new Date(day).toISOString().slice(0, by === 'day' ? 10 : 7))
  // On the clocks of the time zone, where the hour began that is not over: the hours of the day, and for months the day too.
  const lastHour = Math.floor(now / HOUR_MS) * HOUR_MS
  const ageOf = (at: number) => {
    const local = at + zone.offsetAt(at)
    return by === 'day' ? local % DAY_MS : new Date(local).getUTCDate() * DAY_MS + (local % DAY_MS)
  }
  const current = periodAt(range, now)
  // 0 if the present unit began within this hour: nothing of it is known yet.
  const age = current !== undefined && lastHour < range.edges[current]! ? 0 : ageOf(lastHour)
  const remainders = new Map<number, bigint>()
  const addRemainder = (day: number, count: bigint) => remainders.set(day, (remainders.get(day) ?? 0n) + count)
  for (const { unit, start, count, imported } of rows) {
    if (unit === 'hour') {
      addRemainder(start - (start % DAY_MS), -count)
      const index = periodAt(range, start)
      if (by !== 'hour' && index !== undefined && units[index]!.soFar !== null && ageOf(start) < age) {
        units[index]!.soFar! += count
      }
    }
    if (unit === 'day') {
      addRemainder(start, count)
      const index = indexOfDay(start)
      if (imported > 0n && index !== undefined) units[index]!.imported = true
    }
  }
  for (const [day, count] of remainders) {
    const index = indexOfDay(day)
    if (count === 0n || index === undefined) continue
    const unit = units[index]!
    if (count > 0n && day >= hoursSince) unit.imported = true
    if (by === 'hour') continue
    // Of a whole day within the month, it is known whether it is over by then. Of part of a day it is not.
    const date = new Date(day).getUTCDate()
    const dateNow = Math.floor(age / DAY_MS)
    if (by === 'month' && date < dateNow) {
      if (unit.soFar !== null) unit.soFar += count
    } else if (by === 'day' || date === dateNow) unit.soFar = null
  }
  return units
}
