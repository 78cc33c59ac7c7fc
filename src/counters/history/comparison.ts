import { HOUR_MS } from '../calendar.ts'
import type { ChosenPeriod } from './chosen-period.ts'
import { type HistoryRange, periodAt } from './range.ts'
import type { UnitCount } from './unit-counts.ts'

/** A period, compared with the same part of the period before. */
export interface Comparison {
  /** What was counted in the whole period. */
  count: bigint
  /** What of it is compared: all of it, or while it is running, the part up to the last full hour. `null`: nothing can be. */
  compared: bigint | null
  /** What was counted in the same part of the period before. */
  before: bigint | null
}

/** What a chart shows of a period. */
export interface PeriodCounts extends Comparison {
  /** When each unit begins, in milliseconds since 1970. */
  starts: number[]
  units: UnitCount[]
  /** What was counted in the unit of the period before that stands at the same place; `null`: there is none. */
  previous: (bigint | null)[]
  /** The index of the unit that is not over; `null`: the period is over. */
  running: number | null
}

/**
 * Compares a period with the one before.
 *
 * @param units all units of `period.range`
 */
export function comparePeriod(
  { range, beforeLength }: ChosenPeriod,
  units: readonly UnitCount[],
  now: number,
): PeriodCounts {
  const [before, current] = [units.slice(0, beforeLength), units.slice(beforeLength)]
  const [beforePlaces, places] = placesOf(range, beforeLength)
  const at = periodAt(range, now)
  const running = at === undefined ? null : at - beforeLength
  const atPlaces = new Map<number, bigint>()
  for (const [index, place] of beforePlaces.entries()) {
    atPlaces.set(place, (atPlaces.get(place) ?? 0n) + before[index]!.count)
  }
  const previous = places.map((place) => {
    const count = atPlaces.get(place) ?? null
    // A place occurs twice on a day with 25 hours.
    atPlaces.delete(place)
    return count
  })
  const ofBefore = (index: number) => before.filter((_, other) => beforePlaces[other]! < places[index]!)
  return {
    starts: range.edges.slice(beforeLength, -1),
    units: current,
    previous,
    running,
    ...compare(current, before, running, ofBefore),
  }
}

/** Compares the last days with as many days before them. The last day is the running one. */
export function compareDays(units: readonly UnitCount[], days: number): Comparison {
  const before = units.slice(-2 * days, -days)
  return compare(units.slice(-days), before, days - 1, (index) => before.slice(0, index))
}

/** @param ofBefore the units of the period before that stand before the place of a unit */
function compare(
  current: readonly UnitCount[],
  before: readonly UnitCount[],
  running: number | null,
  ofBefore: (index: number) => readonly UnitCount[],
): Comparison {
  const count = sumOf(current)
  if (before.length === 0) return { count, compared: null, before: null }
  if (running === null) return { count, compared: count, before: sumOf(before) }
  const over = ofBefore(running)
  const compared = sumOf(current.slice(0, running))
  const [now, then] = [current[running]?.soFar ?? null, before[over.length]?.soFar ?? null]
  if (now !== null && then !== null) return { count, compared: compared + now, before: sumOf(over) + then }
  // Of an hour, no part is known, and none of a day that was imported: only what is over is compared.
  return running === 0 ? { count, compared: null, before: null } : { count, compared, before: sumOf(over) }
}

function sumOf(units: readonly UnitCount[]): bigint {
  return units.reduce((sum, { count }) => sum + count, 0n)
}

/** Where each unit of both periods stands in its period: hours by the clock, because not every day has 24. */
function placesOf({ by, zone, edges }: HistoryRange, beforeLength: number): [number[], number[]] {
  const starts = edges.slice(0, -1)
  const [before, current] = [starts.slice(0, beforeLength), starts.slice(beforeLength)]
  if (by !== 'hour') return [before.map((_, index) => index), current.map((_, index) => index)]
  const places = (of: readonly number[]) => {
    const first = zone.dateAt((of[0] ?? 0) + HOUR_MS)
    return of.map((at) => Math.floor((at + zone.offsetAt(at) - first) / HOUR_MS))
  }
  return [places(before), places(current)]
}
