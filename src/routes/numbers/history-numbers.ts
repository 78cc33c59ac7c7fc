import { dayText } from '../../counters/calendar.ts'
import { type ChosenPeriod, chosenPeriod } from '../../counters/history/comparison.ts'
import { type Compared, readPeriods } from '../../counters/history/period-counts.ts'
import type { HistoryReader } from '../../counters/history/read-history.ts'
import { toJsonNumber } from '../../database/values.ts'
import type { Source } from './numbers-query.ts'

/** The periods of the figures. */
const FIGURES = ['30d', '7d', 'today', '12m'] as const
/** About the rows that the figures read of a counter: the parts of their periods and of the periods before. */
export const FIGURE_ROWS = 120

/** What is read of the history of a type, a prefix or a counter: its figures as JSON, and a period. */
export type ReadHistory = Awaited<ReturnType<typeof readHistory>>

/** Reads the figures, and a period: its units, and what of it is compared. */
export async function readHistory({ asked: { tz }, now }: Source, period: ChosenPeriod, reader: HistoryReader) {
  const periods = FIGURES.map((name) => chosenPeriod({ name }, tz, now))
  const { compared, units } = await readPeriods(reader, [...periods, period], now.getTime())
  const figures = FIGURES.map((name, index) => [name, comparison(periods[index]!, compared[index]!)] as const)
  return {
    figures: Object.fromEntries(figures) as Record<(typeof FIGURES)[number], ReturnType<typeof comparison>>,
    compared: compared.at(-1)!,
    units,
  }
}

/** `until`: up to where a running period is compared. */
function comparison({ to, range: { zone } }: ChosenPeriod, { spans, ...counts }: Compared) {
  const isCut = spans !== null && spans.current.to < to
  return { ...comparedNumbers(counts), until: isCut ? zone.clockTime(spans.current.to) : null }
}

/** A count and what is compared of it, as JSON. */
export function comparedNumbers({ count, compared, before }: Omit<Compared, 'spans'>) {
  return { count: toJsonNumber(count), compared: orNull(compared), before: orNull(before) }
}

const orNull = (count: bigint | null) => (count === null ? null : toJsonNumber(count))

/** The index of the first unit that is shown: all time begins with the first month that has something. */
export function firstUnit({ asked }: Source, { units }: ReadHistory, also: ReadHistory | undefined): number {
  const last = units.starts.length - 1
  const begins = (count: bigint, index: number) =>
    count !== 0n || (also?.units.counts[index] ?? 0n) !== 0n || index === last
  return asked.period === 'all' ? units.counts.findIndex(begins) : 0
}

/**
 * The chart as JSON. Units that have not begun have no count.
 * @param also the history of the type that counts the same visits in another way
 */
export function chartOf(source: Source, period: ChosenPeriod, own: ReadHistory, also?: ReadHistory) {
  const { range, from, to, earlier } = period
  const { starts, counts, previous, imported, running } = own.units
  const first = firstUnit(source, own, also)
  const day = (at: number) => dayText(range.zone.dateAt(at))
  const isToCome = (index: number) => running !== null && index > running
  // Nothing is drawn of a time before counting began.
  const beforeFirst = own.compared.spans && earlier && day(earlier(from))
  return {
    by: period.by,
    ...comparison(period, { ...own.compared, count: sumOf(counts) }),
    ...(also && { also: comparedNumbers({ ...also.compared, count: sumOf(also.units.counts) }) }),
    first: day(first > 0 ? starts[first]! : from),
    last: day(Math.min(to - 1, source.now.getTime())),
    beforeFirst: beforeFirst ?? null,
    running: running === null ? null : running - first,
    points: starts.slice(first).map((start, place) => {
      const index = first + place
      const countOf = (units: readonly bigint[]) => (isToCome(index) ? null : toJsonNumber(units[index]!))
      return {
        start: range.zone.clockTime(start),
        count: countOf(counts),
        ...(also && { also: countOf(also.units.counts) }),
        ...(beforeFirst && { before: orNull(previous[index]!) }),
        ...(imported[index] && { imported: true }),
      }
    }),
  }
}

function sumOf(counts: readonly bigint[]): bigint {
  return counts.reduce((sum, count) => sum + count, 0n)
}
