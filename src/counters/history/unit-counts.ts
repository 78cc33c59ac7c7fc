import { DAY_MS, HOUR_MS } from '../calendar.ts'
import { type HistoryRange, periodAt, periodOfDay } from './range.ts'
import type { HistoryRow } from './sum-periods.ts'

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
 * Adds up the units of a range as `sumPeriods` does, so that a unit that is not over can be compared with the same part of
 * others.
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
  const units = Array.from(
    { length: range.edges.length - 1 },
    (): UnitCount => ({ count: 0n, soFar: by === 'hour' ? null : 0n, imported: false }),
  )
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
      if (index === undefined) continue
      const touched = units[index]!
      touched.count += count
      if (touched.soFar !== null && ageOf(start) < age) touched.soFar += count
    }
    if (unit === 'day') {
      addRemainder(start, count)
      const index = imported > 0n ? periodOfDay(range, start) : undefined
      if (index !== undefined) units[index]!.imported = true
    }
  }
  for (const [day, count] of remainders) {
    const index = count === 0n ? undefined : periodOfDay(range, day)
    if (index === undefined) continue
    const unit = units[index]!
    unit.count += count
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
