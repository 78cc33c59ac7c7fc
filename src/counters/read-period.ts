import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { PERIODS, startOf } from './calendar.ts'
import type { Counter } from './counter.ts'
import { pendingOf } from './pending.ts'

/** Periods that end now, in hours of the history. */
export const PERIOD_HOURS = { day: 24, week: 7 * 24, month: 30 * 24 } as const

export type Period = keyof typeof PERIOD_HOURS

const HOUR_MS = 3_600_000

/**
 * Reads what was counted in a period that ends now: the hours of the history that began within it, the present one
 * included, and what is pending, which belongs to now. One statement, hence one snapshot: a roll-up is seen not at all or
 * whole.
 *
 * Of the day in which the period begins, its hours are added up, and after it whole days: at most 23 rows and 30, and the slots
 * that hold something. Days also have what was imported for them.
 *
 * @param now whole hours in UTC are counted back from here
 * @throws {DatabaseFailure}
 */
export async function readPeriod(db: Executor, counter: Counter, period: Period, now: Date): Promise<bigint> {
  const { recordType, recordId } = counter
  const before = new Date(now.getTime() - PERIOD_HOURS[period] * HOUR_MS)
  const nextDay = new Date(startOf('day', before).getTime() + 24 * HOUR_MS)
  const { rows } = await db.execute(
    `SELECT SUM(rolled) AS rolled, SUM(pending) AS pending FROM (
       SELECT COALESCE(SUM(count), 0) AS rolled, 0 AS pending FROM counter_history FORCE INDEX (PRIMARY)
       WHERE record_type = ? AND record_id = ? AND period_start > ? AND period_start < ?
       UNION ALL
       SELECT COALESCE(SUM(count), 0), 0 FROM counter_periods FORCE INDEX (PRIMARY)
       WHERE record_type = ? AND record_id = ? AND period = ${PERIODS.day} AND period_start >= ?
       UNION ALL
       SELECT 0, ${pendingOf(counter)}
     ) AS parts`,
    [recordType, recordId, before, nextDay, recordType, recordId, nextDay],
  )
  return toBigInt(rows[0]?.rolled) + toBigInt(rows[0]?.pending)
}
