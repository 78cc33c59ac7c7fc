import { DAY_MS, HOUR_MS } from '../calendar.ts'
import type { ChosenPeriod } from './chosen-period.ts'
import { type HistoryRange, periodAt, periodOfDay } from './range.ts'
import { daysOf, type HistoryRow, type HistorySource, sourcesOf, sumPeriods, type Times } from './sum-periods.ts'

/** How many days back the days are that today is compared with, beside that of the period before. */
const COMPARED_DAYS = [1, 7, 30]

/** A row of the history, and how much of it was imported with nothing but its day. */
export interface DetailedRow extends HistoryRow {
  imported: bigint
}

/** What was counted in one unit of a period: an hour, a day or a month. */
export interface UnitCount {
  count: bigint
  /**
   * What had been counted when the unit was as old as the present one is now, in whole hours. `null`: that is not known, or the
   * unit is not compared with the present one.
   */
  soFar: bigint | null
  /** Whether part of it was imported. */
  imported: boolean
}

/**
 * The rows that `unitCounts` needs: those of `sourcesOf`. Of the units that are compared, also the hours of one day, and the days
 * of the month before it. From `hoursSince` on, also the days, and their hours in sum.
 */
export function sourcesOfUnits(
  period: ChosenPeriod,
  now: number,
  hoursSince = Number.POSITIVE_INFINITY,
): HistorySource[] {
  const { range } = period
  const [units, ...more] = sourcesOf(range) as [HistorySource, ...HistorySource[]]
  if (range.by === 'hour') return [units, ...more]
  const [all, compared] = [daysOf(range), comparedUnits(period, now)]
  const around = more[0]?.only?.around ?? null
  const { zone } = range
  const hours = [...compared.values()].map(({ day }) => ({
    from: Math.min(day, zone.startOf(day)),
    to: Math.max(day + DAY_MS, zone.startOf(day + DAY_MS)),
  }))
  const since = { from: Math.max(all.from, Math.ceil(hoursSince / DAY_MS) * DAY_MS), to: all.to }
  const known = since.from < since.to ? [since] : []
  const ofMonths = [...compared.values()].map(({ first, day }) => ({ from: first, to: day + DAY_MS }))
  const only = (unit: 'hour' | 'day', times: Times[], around: NonNullable<HistorySource['only']>['around'] = null) =>
    around === null && times.length === 0 ? [] : [{ unit, ...all, only: { around, times } }]
  return [
    units,
    ...only('hour', hours, around),
    ...(range.by === 'month' ? only('day', [...ofMonths, ...known]) : []),
    ...known.map((times): HistorySource => ({ unit: 'hours', ...times })),
  ]
}

/**
 * Adds up the units of a period and of the one before as `sumPeriods` does, so that a unit that is not over can be compared with the
 * same part of others.
 *
 * @param rows those of `sourcesOfUnits`
 * @param hoursSince from then on, every day that was counted has its hours: what a day has beyond them was imported
 */
export function unitCounts(
  period: ChosenPeriod,
  rows: readonly DetailedRow[],
  now: number,
  hoursSince = Number.POSITIVE_INFINITY,
): UnitCount[] {
  const soFar = countsSoFar(period, rows, now)
  const imported = importedUnits(period.range, rows, hoursSince)
  return sumPeriods(period.range, rows).map((count, index) => ({
    count,
    soFar: soFar.get(index) ?? null,
    imported: imported.has(index),
  }))
}

/** A unit of which the part up to now is compared. */
interface ComparedUnit {
  /** Its first day. */
  first: number
  /** The day of which the hours are needed: in a month, the one with today's date. It may lie beyond the month. */
  day: number
}

/** The present unit and those that it is compared with, by their index. Of an hour, no part is known. */
function comparedUnits({ range, beforeLength }: ChosenPeriod, now: number): Map<number, ComparedUnit> {
  const { by, indexByDate, zone } = range
  const current = periodAt(range, now)
  if (by === 'hour' || current === undefined) return new Map()
  const back = by === 'day' ? [0, ...COMPARED_DAYS, beforeLength] : [0, beforeLength]
  const indexes = new Set(back.map((units) => current - units))
  const date = by === 'day' ? 1 : new Date(zone.dateAt(now - (now % HOUR_MS))).getUTCDate()
  return new Map(
    [...indexByDate]
      .filter(([, index]) => indexes.has(index))
      .map(([first, index]) => [index, { first, day: first + (date - 1) * DAY_MS }]),
  )
}

/** `UnitCount.soFar` by the index of the unit. */
function countsSoFar(period: ChosenPeriod, rows: readonly DetailedRow[], now: number): Map<number, bigint> {
  const { range } = period
  const { by, zone, edges } = range
  // On the clocks of the time zone: the time of the day, and for months the date too.
  const ageOf = (at: number) => {
    const local = at + zone.offsetAt(at)
    return dateIn(local) * DAY_MS + (local % DAY_MS)
  }
  const dateIn = (local: number) => (by === 'day' ? 0 : new Date(local).getUTCDate())
  const lastHour = now - (now % HOUR_MS)
  // 0 if the present unit began within this hour: nothing of it is known yet.
  const age = lastHour < edges[periodAt(range, now) ?? 0]! ? 0 : ageOf(lastHour)
  const date = Math.floor(age / DAY_MS)
  const sums = new Map([...comparedUnits(period, now).keys()].map((index) => [index, { soFar: 0n, rest: 0n }]))
  const addDay = (day: number, count: bigint) => {
    const sum = sums.get(periodOfDay(range, day)!)
    if (sum === undefined) return
    if (dateIn(day) < date) sum.soFar += count
    // Of what a day has beyond its hours, no part is known.
    if (dateIn(day) === date) sum.rest += count
  }
  for (const { unit, start, count } of rows) {
    if (unit === 'day') addDay(start, count)
    if (unit === 'hour') {
      addDay(Math.floor(start / DAY_MS) * DAY_MS, -count)
      const sum = sums.get(periodAt(range, start)!)
      if (sum !== undefined && ageOf(start) < age) sum.soFar += count
    }
  }
  return new Map([...sums].filter(([, { rest }]) => rest === 0n).map(([index, { soFar }]) => [index, soFar]))
}

/** The indexes of the units of which part was imported. */
function importedUnits(range: HistoryRange, rows: readonly DetailedRow[], hoursSince: number): Set<number | undefined> {
  const hours = range.by === 'hour' ? 'hour' : 'hours'
  const imported = new Set<number | undefined>()
  const rests = new Map<number, bigint>()
  for (const row of rows) {
    const day = Math.floor(row.start / DAY_MS) * DAY_MS
    if (row.imported > 0n) imported.add(periodOfDay(range, day))
    if (day < hoursSince) continue
    if (row.unit === 'day') rests.set(day, (rests.get(day) ?? 0n) + row.count)
    if (row.unit === hours) rests.set(day, (rests.get(day) ?? 0n) - row.count)
  }
  for (const [day, rest] of rests) if (rest > 0n) imported.add(periodOfDay(range, day))
  return imported
}
