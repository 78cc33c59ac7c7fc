import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { DAY_MS, HOUR_MS, startOf } from '../calendar.ts'
import { boundedPendingSql, counterListsSql, MAX_PUBLIC_PENDING } from '../counters-sql.ts'
import { type CounterAddress, counterId, distinct } from '../keys/counter-address.ts'
import { fromCountersSql, type HistorySource, sourceSql } from './sum-periods.ts'

/** Periods that end now, in hours. */
export const RECENT_PERIOD_HOURS = { day: 24, week: 7 * 24, month: 30 * 24 } as const

export type RecentPeriod = keyof typeof RECENT_PERIOD_HOURS

/** The most counters that one statement reads. */
export const MAX_RECENT = 50

/** The rows of a period that ends now: the hours that begin in it up to the next day, and all days from then on. */
export function recentSources(period: RecentPeriod, now: Date): HistorySource[] {
  const after = now.getTime() - RECENT_PERIOD_HOURS[period] * HOUR_MS
  const nextDay = startOf('day', new Date(after)).getTime() + DAY_MS
  return [
    { unit: 'hour', spans: [{ from: (Math.floor(after / HOUR_MS) + 1) * HOUR_MS, to: nextDay }] },
    { unit: 'day', spans: [{ from: nextDay, to: now.getTime() + DAY_MS }] },
  ]
}

/**
 * Reads what was counted in a period that ends now, the current hour and pending slots included. One snapshot for each counter: a
 * roll-up is seen whole or not at all. A counter has at most 23 rows of hours, 30 of days, and `MAX_PUBLIC_PENDING` slots; others
 * are left out. Days include imported counts.
 * @param counters at most `MAX_RECENT`
 * @returns the counts, in the order of the counters
 */
export async function readRecentPeriod(
  db: Executor,
  counters: readonly CounterAddress[],
  period: RecentPeriod,
  now: Date,
): Promise<bigint[]> {
  const selects = counterListsSql(distinct(counters)).flatMap((list) => [
    ...recentSources(period, now).map(
      (source) => `SELECT record_type, record_id, SUM(count) AS count ${fromCountersSql(source.unit, list)}
      AND ${sourceSql(source)} GROUP BY record_type, record_id`,
    ),
    `SELECT record_type, record_id, ${boundedPendingSql(MAX_PUBLIC_PENDING)}
      FROM counters AS n FORCE INDEX (PRIMARY) WHERE ${list}`,
  ])
  const { rows } = await db.execute(selects.join('\nUNION ALL '))
  const counts = new Map<string, bigint>()
  for (const { record_type, record_id, count } of rows) {
    const id = counterId({ recordType: Number(record_type), recordId: toBigInt(record_id) })
    counts.set(id, (counts.get(id) ?? 0n) + toBigInt(count ?? 0))
  }
  return counters.map((counter) => counts.get(counterId(counter)) ?? 0n)
}
