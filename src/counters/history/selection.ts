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
export function partsBetween(from: number, to: number): Part[] {
  const parts: Part[] = []
  for (let day = from; day < to; ) {
    const [nextMonth, nextWeek] = [monthsLater(day, 1), day + 7 * DAY_MS]
    // A week does not cross into a month that can be taken whole.
    const weekEnd = monthsLater(day, 2) <= to ? nextMonth : to
    const isMonth = day === monthsLater(day, 0) && nextMonth <= to
    const isWeek = new Date(day).getUTCDay() === 1 && nextWeek <= weekEnd
    parts.push({ period: isMonth ? 'month' : isWeek ? 'week' : 'day', start: day })
    day = isMonth ? nextMonth : isWeek ? nextWeek : day + DAY_MS
  }
  return parts
}

/** The remainder of a UTC day: what it has beyond its hours. */
export function remainderOf(day: number): Selection {
  return { parts: [{ period: 'day', start: day }], hours: [{ sign: '-', from: day, to: day + DAY_MS }] }
}

/** The rows of some selections, each once. */
export function sourcesOfSelections(selections: readonly Selection[]): HistorySource[] {
  return (['day', 'week', 'month', 'hour'] as const).flatMap((unit) => {
    const wanted = selections.flatMap(({ parts, hours }): Times[] =>
      unit === 'hour'
        ? hours
        : parts.filter(({ period }) => period === unit).map(({ start }) => ({ from: start, to: start + DAY_MS })),
    )
    const times = [...new Map(wanted.map(({ from, to }) => [`${from} ${to}`, { from, to }])).values()]
    const [from, to] = [Math.min(...times.map(({ from }) => from)), Math.max(...times.map(({ to }) => to))]
    return times.length === 0 ? [] : [{ unit, from, to, only: { around: null, times } }]
  })
}

/** @param rows may contain others */
export function sumSelection({ parts, hours }: Selection, rows: readonly HistoryRow[]): bigint {
  return rows.reduce((sum, { unit, start, count }) => {
    if (unit !== 'hour') return parts.some((part) => part.period === unit && part.start === start) ? sum + count : sum
    return hours.reduce(
      (sum, { sign, from, to }) => (start < from || start >= to ? sum : sign === '+' ? sum + count : sum - count),
      sum,
    )
  }, 0n)
}
