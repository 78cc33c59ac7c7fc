import { hourFrom, monthsLater, startOf } from '../counters/calendar.ts'
import type { CounterAddress } from '../counters/counter-address.ts'
import { periodAt } from '../counters/history/history-range.ts'
import { countsOf, type HistoryRows } from '../counters/history/read-history.ts'
import {
  hourAt,
  restOf,
  type Selection,
  type Span,
  selectionOf,
  selectionsOf,
  sumOf,
  type Times,
} from '../counters/history/selection.ts'
import { type ChosenPeriod, type Comparison, comparedSpans } from './chosen-period.ts'

/** Months in which something must have been counted before a predecessor, so that it is compared. */
const BEGUN_MONTHS = 12

/** A count, and what of it is compared with the same part of the predecessor; `null`: nothing can be compared. */
export interface Compared {
  count: bigint
  compared: bigint | null
  before: bigint | null
  spans: Comparison | null
}

export interface Unit {
  /** When it begins, in milliseconds since 1970. */
  start: number
  count: bigint
  /** The count of the same part of the predecessor; `null`: it has none, such as an hour that its clocks skip. */
  previous: bigint | null
}

/** Reads the history of a counter, or of all counters of a type or prefix together. */
export type HistoryReader = (selections: readonly Selection[], between: Times) => Promise<HistoryRows>

/** Counts periods and what of them is compared; reads units, parts and adjustments of the last one. Pending counts belong to now. */
export async function readPeriods(read: HistoryReader, periods: readonly ChosenPeriod[], now: number) {
  const shown = periods.at(-1)!
  const possible = periods.map((period) => comparedSpans(period, now))
  const units = selectionsOf(shown.range)
  const selections = possible.flatMap((spans) => {
    if (spans === null) return []
    const { byHour, byDay, cutDays } = spans
    const { before } = byHour
    return [
      ...[byHour.current, before, byDay.current, byDay.before, earlierThan(before)].map(selectionOf),
      ...[before.firstDay, ...cutDays].map(restOf),
      hourAt(before.from),
    ]
  })
  const asked = [...units, ...periods.map(selectionOf), ...selections]
  const { counts, pending, adjustments, parts = [] } = await read(asked, shown)
  const sum = (selection: Selection) => sumOf(selection, counts)
  const isWithoutHour = (day: number) => sum(restOf(day)) !== 0n
  const hasBegun = (before: Span) =>
    sum(selectionOf(earlierThan(before))) !== 0n || isWithoutHour(before.firstDay) || sum(hourAt(before.from)) !== 0n
  return {
    compared: periods.map((period, index): Compared => {
      const found = possible[index]!
      const spans = found && (found.cutDays.some(isWithoutHour) ? found.byDay : found.byHour)
      const compared = spans !== null && hasBegun(spans.before) ? spans : null
      return {
        count: sum(selectionOf(period)) + (isIn(period, now) ? (pending ?? 0n) : 0n),
        compared: compared && sum(selectionOf(compared.current)),
        before: compared && sum(selectionOf(compared.before)),
        spans: compared,
      }
    }),
    units: unitsOf(shown, countsOf(shown.range, units, { counts, pending }, now)),
    parts: parts.map((part) => unitsOf(shown, countsOf(shown.range, units, part, now)).map(({ count }) => count)),
    adjustments,
  }
}

/** Whether what is pending is of a period that is running: an hour within which it begins belongs to the day before. */
const isIn = ({ from, to }: Span, now: number) => now >= hourFrom(from) && now < to

/** What lies before a predecessor. */
function earlierThan({ from, firstDay }: Span): Span {
  const begin = monthsLater(firstDay, -BEGUN_MONTHS)
  return { from: begin, to: from, firstDay: begin, nextDay: firstDay }
}

/** The units of a period, and the same parts of its predecessor. @param counts of its range */
function unitsOf({ by, range, first, earlier }: ChosenPeriod, counts: readonly bigint[]): Unit[] {
  // Hours of the clock come twice when it is put back. Then the first ones take all.
  let place = 0
  const places = range.edges.slice(first).map((edge) => {
    if (earlier !== null) place = Math.max(place, periodAt(range, earlier(edge))!)
    return place
  })
  const units = range.edges.slice(first, -1).map((start, index): Unit => {
    const previous = counts.slice(places[index], places[index + 1])
    return { start, count: counts[first + index]!, previous: previous.length === 0 ? null : totalOf(previous) }
  })
  if (by === range.by) return units
  // Weeks or months of days. The first and the last one may be shorter.
  const dateOf = ({ start }: Unit) => startOf(by, new Date(range.zone.dateAt(start))).getTime()
  return [...Map.groupBy(units, dateOf).values()].map((days) => {
    const previous = days.flatMap(({ previous }) => previous ?? [])
    return {
      start: days[0]!.start,
      count: totalOf(days.map(({ count }) => count)),
      previous: previous.length === 0 ? null : totalOf(previous),
    }
  })
}

/** The counts of a key by unit; `null`: of all other keys. */
export interface KeyPart {
  key: string | null
  counts: readonly bigint[]
}

/** The parts that add up to a sum: keys, from the largest, and all others, without those that have no counts. @param parts by unit */
export function partsByKey(
  { units, parts }: { units: readonly Unit[]; parts: readonly (readonly bigint[])[] },
  keys: readonly CounterAddress[],
): KeyPart[] {
  const largest = keys
    .map(({ name: key }, nth): KeyPart => ({ key, counts: parts[nth]! }))
    .sort((a, b) => (totalOf(a.counts) < totalOf(b.counts) ? 1 : -1))
  const rest = units.map(({ count }, unit) => count - totalOf(largest.map(({ counts }) => counts[unit]!)))
  const all = keys.length === 0 ? [] : [...largest, { key: null, counts: rest }]
  return all.filter(({ counts }) => counts.some((count) => count !== 0n))
}

function totalOf(counts: readonly bigint[]): bigint {
  return counts.reduce((sum, count) => sum + count, 0n)
}
