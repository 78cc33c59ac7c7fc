import type { Executor } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import { HOUR_MS, NO_PERIOD, PERIODS } from '../calendar.ts'
import { counterListsSql } from '../counters-sql.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import type { ChosenPeriod } from './comparison.ts'
import type { HistoryRange } from './range.ts'
import { daysOf, type HistoryRow, sourceSql, sumPeriods, type Times } from './sum-periods.ts'

/**
 * Reads what a chart of a period shows, for each of some counters, as of the last roll-up: the units of its range, without those
 * of the predecessor. One statement, with a row for each counter and unit, and away from UTC one more for each of its hours
 * between the two midnights together.
 * @param counters of one type
 * @param firstHour the first hour that is kept, in milliseconds since 1970
 * @returns the counts of each counter, in their order
 */
export async function readRowCharts(
  db: Executor,
  counters: readonly CounterPlace[],
  period: ChosenPeriod,
  firstHour: number,
): Promise<bigint[][]> {
  if (counters.length === 0) return []
  const range = unitsOf(period)
  const unit = range.by === 'hour' ? 'day' : range.by
  const days = daysOf(range)
  const hours = range.by === 'hour' ? [days] : hoursBetweenMidnights(range).filter(({ to }) => to > firstHour)
  const at = (column: string) => `TIMESTAMPDIFF(HOUR, '${NO_PERIOD}', ${column})`
  const selects = counterListsSql(counters).flatMap((list) => [
    `SELECT ${packedSql('record_id', `'${unit}'`, at('period_start'), 'count')} FROM counter_periods FORCE INDEX (PRIMARY)
      WHERE ${list} AND period = ${PERIODS[unit]} AND ${sourceSql({ unit, spans: [days] }, 'period_start')}`,
    ...(hours.length === 0
      ? []
      : [
          `SELECT ${packedSql('record_id', "'hour'", at('MIN(period_start)'), 'SUM(count)')} FROM counter_history FORCE INDEX (PRIMARY)
      WHERE ${list} AND ${sourceSql({ unit: 'hour', spans: hours }, 'period_start')}
      GROUP BY record_id, ${range.by === 'hour' ? 'period_start' : 'DATE(period_start)'}`,
        ]),
  ])
  const { rows } = await db.execute(selects.join('\nUNION ALL '))
  const byId = new Map<string, HistoryRow[]>()
  for (const row of rows) {
    const [id, unit, start, count] = unpack(row) as [string, HistoryRow['unit'], string, string]
    const found = byId.get(id) ?? []
    found.push({ unit, start: Number(start) * HOUR_MS, count: BigInt(count) })
    byId.set(id, found)
  }
  return counters.map(({ recordId }) => sumPeriods(range, byId.get(String(recordId)) ?? []))
}

/** The range of a period without its predecessor. */
function unitsOf({ range, first }: ChosenPeriod): HistoryRange {
  const own = [...range.indexByDate].filter(([, index]) => index >= first)
  const indexByDate = new Map(own.map(([date, index]) => [date, index - first]))
  return { ...range, edges: range.edges.slice(first), indexByDate }
}

/** The hours that begin between the midnight of the zone and that of UTC with the same date, for each unit. */
function hoursBetweenMidnights({ zone, edges, indexByDate }: HistoryRange): Times[] {
  const end = edges.at(-1)!
  const midnights = [...indexByDate, [zone.dateAt(end), edges.length - 1] as const]
  return midnights.flatMap(([date, index]) => {
    const hour = Math.ceil(edges[index]! / HOUR_MS) * HOUR_MS
    return hour === date ? [] : [{ from: Math.min(hour, date), to: Math.max(hour, date) }]
  })
}
