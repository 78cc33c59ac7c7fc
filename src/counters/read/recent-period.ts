import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { DAY_MS, HOUR_MS } from '../calendar.ts'
import { boundedPendingSql, counterListsSql, MAX_PUBLIC_PENDING } from '../counters-sql.ts'
import { partsSql } from '../history/rows-sql.ts'
import { type Selection, selectionOf, spanOf } from '../history/selection.ts'
import { type CounterAddress, counterId, distinct } from '../keys/counter-address.ts'

/** Periods that end now, in hours. */
export const RECENT_PERIOD_HOURS = { day: 24, week: 7 * 24, month: 30 * 24 } as const

export type RecentPeriod = keyof typeof RECENT_PERIOD_HOURS

/** The most counters that one statement reads. */
export const MAX_RECENT = 50

const UTC = { dateAt: (at: number) => Math.floor(at / DAY_MS) * DAY_MS }

/** A period that ends now: the hours that begin in it up to the next day, and all days from then on. */
export function recentSelection(period: RecentPeriod, now: Date): Selection {
  const after = now.getTime() - RECENT_PERIOD_HOURS[period] * HOUR_MS
  return selectionOf(spanOf(UTC, after + 1, UTC.dateAt(now.getTime()) + DAY_MS))
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
    ...partsSql({ counters: list }, recentSelection(period, now), 0).map(
      ({ from }) =>
        `SELECT h.record_type, h.record_id, SUM(h.count) AS count ${from} GROUP BY h.record_type, h.record_id`,
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
