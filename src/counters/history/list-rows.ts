import type { Executor } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import { DAY_MS, dayText, HOUR_MS, PERIODS, timeText } from '../calendar.ts'
import { counterListsSql } from '../counters-sql.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import type { ChosenPeriod, Span } from './comparison.ts'
import type { HistoryRange } from './history-range.ts'
import { selectionOf } from './selection.ts'
import {
  daysOf,
  fromCountersSql,
  type HistoryRow,
  type HistorySource,
  packedRowsSql,
  sourcesOf,
  sumPeriods,
  unpackCounts,
} from './sum-periods.ts'

/** What is read of each of some counters. */
interface AskedRows {
  /** Its counts in these. */
  spans?: readonly Span[]
  /**
   * The units of the period, without those of the predecessor; `null`: none are read. `firstHour`: the first hour that is kept,
   * in milliseconds since 1970.
   */
  charts?: { period: ChosenPeriod; firstHour: number } | null
  names?: boolean
}

/** What a list shows of each of some counters, in their order. */
export interface Rows {
  /** Its counts, for each span. */
  counts: bigint[][]
  /** The counts of the units of its chart. */
  charts: bigint[][] | null
  /** Empty if they were not asked for, or if there is none. */
  names: string[]
}

/**
 * Reads the rows of a list with one statement, as of the last roll-up.
 * @param counters of one type
 */
export async function readRows(
  db: Executor,
  counters: readonly CounterPlace[],
  { spans = [], charts = null, names = false }: AskedRows,
): Promise<Rows> {
  const range = charts && { ...charts.period.range, edges: charts.period.range.edges.slice(charts.period.first) }
  const sources = range === null ? [] : chartSources(range, charts!.firstHour)
  const selects = counterListsSql(counters).flatMap((list) => [
    ...spans.flatMap((span, place) => countsSql(list, span, place)),
    ...sources.map((source) => packedRowsSql(source, 'record_id', fromCountersSql(source.unit, list), 'record_id')),
    ...(names ? [namesSql(list)] : []),
  ])
  // In the first hour of a period, nothing is compared yet.
  const { rows } = selects.length === 0 ? { rows: [] } : await db.execute(selects.join('\nUNION ALL '))
  const found = new Map(
    counters.map(({ recordId }) => [
      `${recordId}`,
      { counts: spans.map(() => 0n), units: [] as HistoryRow[], name: '' },
    ]),
  )
  for (const [what, id, ...values] of rows.map(unpack)) {
    const counter = found.get(id!)!
    if (what === 'name') counter.name = values.join(' ')
    else if (Number(what) < spans.length) counter.counts[Number(what)]! += BigInt(values[0]!)
    else {
      const unit = what === 'hours' ? 'hour' : (what as HistoryRow['unit'])
      for (const [hour, count] of unpackCounts(values[0]!, values[1]!)) {
        counter.units.push({ unit, start: hour * HOUR_MS, count })
      }
    }
  }
  const inOrder = counters.map(({ recordId }) => found.get(`${recordId}`)!)
  return {
    counts: spans.map((_, place) => inOrder.map(({ counts }) => counts[place]!)),
    charts: range && inOrder.map(({ units }) => sumPeriods(range, units)),
    names: inOrder.map(({ name }) => name),
  }
}

/** SQL of the counts of listed counters in a span. */
function countsSql(list: string, span: Span, place: number): string[] {
  const { parts, hours } = selectionOf(span)
  const select = (count: string, table: string, condition: string) =>
    `SELECT ${packedSql(`${place}`, 'record_id', count)} FROM ${table} FORCE INDEX (PRIMARY)
      WHERE ${list} AND (${condition}) GROUP BY record_id`
  const starts = [...Map.groupBy(parts, ({ period }) => period)].map(
    ([period, same]) =>
      `period = ${PERIODS[period]} AND period_start IN (${same.map(({ start }) => `'${dayText(start)}'`).join(',')})`,
  )
  return [
    ...(starts.length === 0 ? [] : [select('SUM(count)', 'counter_periods', starts.join(' OR '))]),
    ...hours.map(({ sign, from, to }) =>
      select(
        sign === '-' ? '-SUM(count)' : 'SUM(count)',
        'counter_history',
        `period_start >= '${timeText(from)}' AND period_start < '${timeText(to)}'`,
      ),
    ),
  ]
}

function namesSql(list: string): string {
  const columns = packedSql("'name'", 'record_id', 'CONVERT(name USING utf8mb4)')
  return `SELECT ${columns} FROM counters FORCE INDEX (PRIMARY) WHERE ${list}`
}

/** The rows of charts. Away from UTC, they include the hours between the midnights of the zone and of UTC with the same date. */
function chartSources(range: HistoryRange, firstHour: number): HistorySource[] {
  const { by, zone, edges } = range
  if (by === 'hour') return sourcesOf(range)
  const hours = edges
    .map((edge) => {
      // A day that was skipped is the beginning of the next one.
      const midnights = [zone.dateAt(edge - 1) + DAY_MS, Math.ceil(edge / HOUR_MS) * HOUR_MS]
      return { from: Math.min(...midnights), to: Math.max(...midnights) }
    })
    .filter(({ from, to }) => from < to && to > firstHour)
  const days: HistorySource = { unit: by, spans: [daysOf(range)] }
  return hours.length === 0 ? [days] : [days, { unit: 'hours', spans: hours }]
}
