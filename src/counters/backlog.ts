import type { Executor } from '../database/database.ts'
import { toBigInt, toDate } from '../database/numbers.ts'

/** Slots are counted up to here, so that looking costs no more than a roll-up page or two. */
export const MAX_COUNTED = 10_000

/** What waits to be rolled up and pruned. */
export interface Backlog {
  /** Slots that hold something, up to `MAX_COUNTED`. */
  pending: number
  /** Slots last written before the idempotency window, up to `MAX_COUNTED`. All but those that still hold something may go. */
  prunable: number
  /** Hours since the oldest slot was last written; `null`: there is none. */
  oldestHours: number | null
}

/**
 * Looks at what waits to be rolled up and pruned.
 *
 * @throws {DatabaseFailure}
 */
export async function readBacklog(db: Executor, idempotencyHours: number): Promise<Backlog> {
  const { rows } = await db.execute(
    `SELECT
       (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 LIMIT ?) AS p) AS pending,
       (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters FORCE INDEX (written)
         WHERE written_hour < FLOOR(UNIX_TIMESTAMP() / 3600) - ? LIMIT ?) AS w) AS prunable,
       (SELECT MIN(written_hour) FROM slotted_counters) AS oldest_hour,
       FLOOR(UNIX_TIMESTAMP() / 3600) AS present_hour`,
    [MAX_COUNTED, idempotencyHours, MAX_COUNTED],
  )
  const { pending, prunable, oldest_hour, present_hour } = rows[0] ?? {}
  return {
    pending: Number(toBigInt(pending)),
    prunable: Number(toBigInt(prunable)),
    oldestHours: oldest_hour === null ? null : Number(toBigInt(present_hour) - toBigInt(oldest_hour)),
  }
}

/**
 * The oldest hour that the history has.
 *
 * @returns `null` if it has none
 * @throws {DatabaseFailure}
 */
export async function readOldestHour(db: Executor): Promise<Date | null> {
  const { rows } = await db.execute('SELECT MIN(period_start) AS oldest FROM counter_history')
  return toDate(rows[0]?.oldest ?? null)
}
