import { type CalendarPeriod, DAY_MS, HOUR_MS, hourFrom, monthsLater } from '../calendar.ts'
import type { HistoryRange } from './history-range.ts'
import type { TimeZone } from './time-zone.ts'

/** Milliseconds since 1970, `to` exclusive. */
export interface Times {
  from: number
  to: number
}

/** What is added up: the hours that begin between two instants, and counts without an hour by the date of their day. */
export interface Span extends Times {
  /** Midnights in UTC: the first day, and the one after the last. */
  firstDay: number
  nextDay: number
}

/** The span between two instants of a time zone. A date that the zone skipped belongs to the next one. */
export function spanOf(zone: TimeZone, from: number, to: number): Span {
  return { from, to, firstDay: dayFrom(zone, from), nextDay: dayFrom(zone, to) }
}

/** The first date that begins at an instant or later. */
const dayFrom = (zone: TimeZone, at: number) => zone.dateAt(at - 1) + DAY_MS

/** Rows of one unit, one after another, that are added or taken away. */
export interface Run extends Times {
  unit: CalendarPeriod
  sign: 1n | -1n
}

/** The rows of the history that add up to something. Rows are those of UTC. */
export type Selection = readonly Run[]

/**
 * The rows that make up a span: months and days, plus or minus hours at both ends. In any time zone, what a day has beyond its hours,
 * because they expired or it was imported, belongs to the day with its name.
 */
export function selectionOf({ from, to, firstDay, nextDay }: Span): Selection {
  const runs: Run[] = []
  const add = (unit: CalendarPeriod, from: number, to: number, sign: Run['sign'] = 1n) => {
    if (from < to) runs.push({ unit, from, to, sign })
  }
  const isShort = nextDay - firstDay < SHORTEST_MONTH_MS
  const firstMonth = isShort ? nextDay : nextMonthAfter(firstDay - DAY_MS)
  const nextMonth = isShort ? nextDay : monthsLater(nextDay, 0)
  if (firstMonth < nextMonth) {
    add('day', firstDay, firstMonth)
    add('month', firstMonth, nextMonth)
    add('day', nextMonth, nextDay)
  } else add('day', firstDay, nextDay)
  // East of Greenwich a day begins on the evening of the UTC day before.
  const [firstHour, nextHour] = [hourFrom(from), hourFrom(to)]
  add('hour', firstHour, firstDay)
  add('hour', firstDay, firstHour, -1n)
  add('hour', nextDay, nextHour)
  add('hour', nextHour, nextDay, -1n)
  return runs
}

/** How much more one selection has than another. */
export function differenceOf(more: Selection, less: Selection): Selection {
  return [...more, ...less.map((run) => ({ ...run, sign: run.sign === 1n ? (-1n as const) : (1n as const) }))]
}

/** What a UTC day has beyond its hours. */
export function restOf(day: number): Selection {
  const hours = { from: day, to: day + DAY_MS }
  return [
    { unit: 'day', ...hours, sign: 1n },
    { unit: 'hour', ...hours, sign: -1n },
  ]
}

/** The first hour that begins at an instant or later. */
export function hourAt(at: number): Selection {
  return [{ unit: 'hour', from: hourFrom(at), to: hourFrom(at) + HOUR_MS, sign: 1n }]
}

/** The rows of each period of a range. By hours, what a day has beyond its hours belongs to its first one. */
export function selectionsOf({ by, zone, edges }: HistoryRange): Selection[] {
  const days = by === 'hour' ? [] : edges.map((edge) => dayFrom(zone, edge))
  return edges.slice(0, -1).map((from, place) => {
    const [to, firstDay, nextDay] = [edges[place + 1]!, days[place]!, days[place + 1]!]
    if (by !== 'hour') return selectionOf({ from, to, firstDay, nextDay })
    return from % DAY_MS === 0 ? [...hourAt(from), ...restOf(from)] : hourAt(from)
  })
}

/** The rows to read for selections, each once: runs by unit, in the order of time. @param hoursFrom earlier hours are left out */
export function rowsOf(selections: readonly Selection[], hoursFrom: number): Map<CalendarPeriod, Times[]> {
  const rows = new Map<CalendarPeriod, Times[]>()
  for (const [unit, runs] of Map.groupBy(selections.flat(), ({ unit }) => unit)) {
    const times: Times[] = []
    for (const { from: begin, to } of runs.sort((a, b) => a.from - b.from)) {
      const from = unit === 'hour' ? Math.max(begin, hoursFrom) : begin
      const last = times.at(-1)
      if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
      else if (from < to) times.push({ from, to })
    }
    if (times.length > 0) rows.set(unit, times)
  }
  return rows
}

const SHORTEST_MONTH_MS = 28 * DAY_MS

/** When the row after the one at `at` starts. */
function nextStart(unit: CalendarPeriod, at: number): number {
  return unit === 'month' ? nextMonthAfter(at) : at + (unit === 'day' ? DAY_MS : HOUR_MS)
}

/** Months that follow a date. The calendar takes several times as long as a look-up, and a page asks for some 2,000. */
const nextMonths = new Map<number, number>()
const MAX_NEXT_MONTHS = 1_000

function nextMonthAfter(date: number): number {
  let next = nextMonths.get(date)
  if (next !== undefined) return next
  next = monthsLater(date, 1)
  if (nextMonths.size === MAX_NEXT_MONTHS) nextMonths.clear()
  nextMonths.set(date, next)
  return next
}

/** When the rows of a unit in some times start. */
export function startsOf(unit: CalendarPeriod, times: readonly Times[]): number[] {
  const starts: number[] = []
  for (const { from, to } of times) {
    for (let at = from; at < to; at = nextStart(unit, at)) starts.push(at)
  }
  return starts
}

/** Counts by the unit and the start of their rows. */
export type Counts = Record<CalendarPeriod, Map<number, bigint>>

export const noCounts = (): Counts => ({ hour: new Map(), day: new Map(), month: new Map() })

/** @param times in hours since 1970 */
export function addCounts(counts: Counts, unit: string, times: readonly (readonly [hour: number, count: bigint])[]) {
  const ofUnit = counts[unit as CalendarPeriod]
  for (const [hour, count] of times) ofUnit.set(hour * HOUR_MS, (ofUnit.get(hour * HOUR_MS) ?? 0n) + count)
}

/** Adds up a selection. @param counts may have other rows, too */
export function sumOf(selection: Selection, counts: Counts): bigint {
  let sum = 0n
  for (const { unit, sign, from, to } of selection) {
    const ofUnit = counts[unit]
    if (ofUnit.size === 0) continue
    for (let at = from; at < to; at = nextStart(unit, at)) {
      const count = ofUnit.get(at)
      if (count !== undefined) sum = sign === 1n ? sum + count : sum - count
    }
  }
  return sum
}
