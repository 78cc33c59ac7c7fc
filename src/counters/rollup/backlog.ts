import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { HOUR_SQL } from '../counters-sql.ts'

/** Slots are counted up to this number, so that counting costs no more than a roll-up page or two. */
export const MAX_COUNTED = 10_000

export interface Backlog {
  pending: number
  /** Slots that are kept no longer. The empty ones may be deleted. */
  prunable: number
  /** Hours since the first of them could be deleted; below 0 if that time has not come, 0 if there are no slots. */
  overdueHours: number
}

/** Measures the backlog, up to `MAX_COUNTED`. The hour 0 marks slots that were pruned while rolled up: they are not old. */
export async function readBacklog(db: Executor): Promise<Backlog> {
  const { rows } = await db.execute(
    `SELECT
       (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 LIMIT ?) AS p) AS pending,
       (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters FORCE INDEX (pruning)
         WHERE kept_until < ${HOUR_SQL} LIMIT ?) AS w) AS prunable,
       (SELECT MIN(kept_until) FROM slotted_counters WHERE kept_until > 0) AS oldest,
       ${HOUR_SQL} AS hour`,
    [MAX_COUNTED, MAX_COUNTED],
  )
  const { pending, prunable, oldest, hour } = rows[0] ?? {}
  return {
    pending: Number(toBigInt(pending)),
    prunable: Number(toBigInt(prunable)),
    // Subtracted here: MariaDB refuses a difference below 0.
    overdueHours: oldest === null ? 0 : Number(toBigInt(hour) - toBigInt(oldest)),
  }
}
