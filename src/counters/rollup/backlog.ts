import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { HOUR_SQL } from '../counters-sql.ts'

/** Slots are counted up to this number, so that counting costs no more than a roll-up page or two. */
export const MAX_COUNTED = 10_000

export interface Backlog {
  pending: number
  /** Slots last written before the idempotency window. The empty ones may be deleted. */
  prunable: number
  /** Since the oldest slot was last written; `null` if there is none. */
  oldestHours: number | null
}

/** Measures the backlog, up to `MAX_COUNTED`. The hour 0 marks slots that were pruned while rolled up: they are not old. */
export async function readBacklog(db: Executor, idempotencyHours: number): Promise<Backlog> {
  const { rows } = await db.execute(
    `SELECT
       (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 LIMIT ?) AS p) AS pending,
       (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters FORCE INDEX (written)
         WHERE written_hour < ${HOUR_SQL} - ? LIMIT ?) AS w) AS prunable,
       (SELECT MIN(written_hour) FROM slotted_counters WHERE written_hour > 0) AS oldest_hour,
       ${HOUR_SQL} AS present_hour`,
    [MAX_COUNTED, idempotencyHours, MAX_COUNTED],
  )
  const { pending, prunable, oldest_hour, present_hour } = rows[0] ?? {}
  return {
    pending: Number(toBigInt(pending)),
    prunable: Number(toBigInt(prunable)),
    oldestHours: oldest_hour === null ? null : Number(toBigInt(present_hour) - toBigInt(oldest_hour)),
  }
}

/** The oldest hour in the history; `null` if there is none. */
export async function readOldestHour(db: Executor): Promise<Date | null> {
  const { rows } = await db.execute('SELECT MIN(period_start) AS oldest FROM counter_history')
  return toDate(rows[0]?.oldest ?? null)
}
