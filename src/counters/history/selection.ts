import { DAY_MS, HOUR_MS, monthsLater } from '../calendar.ts'
import type { Span } from './comparison.ts'
import type { HistoryRow, HistorySource, Times } from './sum-periods.ts'

/** A UTC day, week or month of the history, by its first day (a midnight in UTC). */
export interface Part {
  period: 'day' | 'week' | 'month'
  start: number
}

/** Hours between two instants that are added or taken away. */
export interface Hours extends Times {
  sign: '+' | '-'
}

/** The rows of the history that make up a span: parts, plus or minus hours at its ends. */
export interface Selection {
  parts: Part[]
  hours: Hours[]
}

/** The rows that make up a span. As in `sumPeriods`, the remainder of a UTC day belongs to the day with its name. */
export function selectionOf({ from, to, firstDay, nextDay }: Span): Selection {
  // East of Greenwich a day begins on the evening of the UTC day before.
  const ceilHour = (at: number) => Math.ceil(at / HOUR_MS) * HOUR_MS
  const [firstHour, nextHour] = [ceilHour(from), ceilHour(to)]
  const hours: Hours[] = [
    { sign: '+', from: firstHour, to: firstDay },
    { sign: '-', from: firstDay, to: firstHour },
    { sign: '+', from: nextDay, to: nextHour },
    { sign: '-', from: nextHour, to: nextDay },
  ]
  return { parts: partsBetween(firstDay, nextDay), hours: hours.filter(({ from, to }) => from < to) }
}

/** The fewest UTC days, weeks and months that make up the days between two midnights. */
function partsBetween(from: number, to: number): Part[] {
  const parts: Part[] = []
  for (let day = from; day < to; ) {
    const date = new Date(day)
    const isMonth = date.getUTCDate() === 1 && monthsLater(day, 1) <= to
    // A week does not cross into a month that can be taken whole.
    const weekEnd = () => (monthsLater(day, 2) <= to ? monthsLater(day, 1) : to)
    const isWeek = !isMonth && date.getUTCDay() === 1 && day + 7 * DAY_MS <= weekEnd()
    parts.push({ period: isMonth ? 'month' : isWeek ? 'week' : 'day', start: day })
    day = isMonth ? monthsLater(day, 1) : day + (isWeek ? 7 : 1) * DAY_MS
  }
  return parts
}

/** The remainder of a UTC day: what it has beyond its hours. */
export function remainderOf(day: number): Selection {
  return { parts: [{ period: 'day', start: day }], hours: [{ sign: '-', from: day, to: day + DAY_MS }] }
}

/** The rows of some selections. */
export function sourcesOfSelections(selections: readonly Selection[]): HistorySource[] {
  return selections.flatMap(({ parts, hours }): HistorySource[] => [
    ...parts.map(({ period, start }) => ({ unit: period, spans: [{ from: start, to: start + DAY_MS }] })),
    ...hours.map(({ from, to }) => ({ unit: 'hour' as const, spans: [{ from, to }] })),
  ])
}

/** Sums the counts of rows by unit and start, for `sumSelection`. */
export function sumsOf(rows: readonly HistoryRow[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { unit, start, count } of rows) sums.set(`${unit} ${start}`, (sums.get(`${unit} ${start}`) ?? 0n) + count)
  return sums
}

/** @param sums may contain other rows */
export function sumSelection({ parts, hours }: Selection, sums: ReadonlyMap<string, bigint>): bigint {
  let sum = 0n
  for (const { period, start } of parts) sum += sums.get(`${period} ${start}`) ?? 0n
  for (const { sign, from, to } of hours) {
    for (let at = Math.ceil(from / HOUR_MS) * HOUR_MS; at < to; at += HOUR_MS) {
      const count = sums.get(`hour ${at}`) ?? 0n
      sum += sign === '+' ? count : -count
    }
  }
  return sum
}
