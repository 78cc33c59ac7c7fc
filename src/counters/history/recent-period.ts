import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { HOUR_MS, PERIODS, startOf } from '../calendar.ts'
import { boundedPendingSql, counterListsSql, MAX_PUBLIC_PENDING } from '../counters-sql.ts'
import { type CounterAddress, counterId, distinct } from '../keys/counter-address.ts'

/** Periods that end now, in hours. */
export const RECENT_PERIOD_HOURS = { day: 24, week: 7 * 24, month: 30 * 24 } as const

export type RecentPeriod = keyof typeof RECENT_PERIOD_HOURS

/** The most counters that one statement reads. */
export const MAX_RECENT = 50

/** The history of a period that ends now: the hours after a time up to the next day, and all days from then on. */
export function recentSpan(period: RecentPeriod, now: Date): { after: Date; nextDay: Date } {
  const after = new Date(now.getTime() - RECENT_PERIOD_HOURS[period] * HOUR_MS)
  return { after, nextDay: new Date(startOf('day', after).getTime() + 24 * HOUR_MS) }
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
  const { after, nextDay } = recentSpan(period, now)
  const lists = counterListsSql(distinct(counters))
  const { rows } = await db.execute(
    lists.map(periodSql).join('\nUNION ALL '),
    lists.flatMap(() => [after, nextDay, nextDay]),
  )
  const counts = new Map<string, bigint>()
  for (const { record_type, record_id, count } of rows) {
    const id = counterId({ recordType: Number(record_type), recordId: toBigInt(record_id) })
    counts.set(id, (counts.get(id) ?? 0n) + toBigInt(count ?? 0))
  }
  return counters.map((counter) => counts.get(counterId(counter)) ?? 0n)
}

function periodSql(list: string): string {
  const sum = 'SELECT record_type, record_id, SUM(count) AS count FROM'
  const grouped = 'GROUP BY record_type, record_id'
  return `${sum} counter_history FORCE INDEX (PRIMARY)
      WHERE ${list} AND period_start > ? AND period_start < ? ${grouped}
    UNION ALL ${sum} counter_periods FORCE INDEX (PRIMARY)
      WHERE ${list} AND period = ${PERIODS.day} AND period_start >= ? ${grouped}
    UNION ALL SELECT record_type, record_id, ${boundedPendingSql(MAX_PUBLIC_PENDING)}
      FROM counter_names AS n FORCE INDEX (PRIMARY) WHERE ${list}`
}
