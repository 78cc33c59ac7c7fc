import type { Database } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import { type RunBudgets, startDeletion } from '../background-runs.ts'
import { afterSql, HOUR_SQL } from '../counters-sql.ts'
import type { Cursor } from './lease.ts'

export interface PruningSettings extends RunBudgets {
  pageSlots: number
}

interface OldSlot extends Cursor {
  hour: bigint
}

/**
 * Deletes empty slots that need not be kept any longer, oldest first, page by page. `hoursKept` says for how long, when a batch
 * is written. Slots are read without locks and then deleted by primary key: a range delete would lock the gaps that writers
 * insert into.
 */
export async function prune(database: Database, { pageSlots, ...budgets }: PruningSettings) {
  const run = startDeletion(database, budgets)
  const stoppedBy = await run.deleteAll<OldSlot>({
    pageRows: pageSlots,
    recordIdOf: ({ recordId }) => recordId,
    async read(db, after) {
      const [resume, resumeAt] = afterSql(
        ['kept_until', 'record_type', 'record_id', 'slot'],
        after && [after.hour, after.recordType, after.recordId, after.slot],
      )
      const { rows } = await db.execute(
        `SELECT ${packedSql('kept_until', 'record_type', 'record_id', 'slot')} FROM slotted_counters FORCE INDEX (pruning)
         WHERE kept_until < ${HOUR_SQL} ${resume}
         ORDER BY kept_until, record_type, record_id, slot LIMIT ?`,
        [...resumeAt, pageSlots],
      )
      return rows.map((row) => {
        const [hour, recordType, recordId, slot] = unpack(row) as [string, string, string, string]
        return { hour: BigInt(hour), recordType: Number(recordType), recordId: BigInt(recordId), slot: BigInt(slot) }
      })
    },
    async remove(db, slots) {
      // Integers, written into the statement: see applyBatch. `+ 0` keeps the optimizer from the index on kept_until, whose
      // gaps must not be locked.
      const keys = slots.map(({ recordType, recordId, slot }) => `(${recordType},${recordId},${slot})`)
      const { rowsAffected } = await db.execute(
        `DELETE FROM slotted_counters
         WHERE (record_type, record_id, slot) IN (${keys.join(',')}) AND count = 0 AND kept_until + 0 < ${HOUR_SQL}`,
      )
      return rowsAffected
    },
  })
  return run.summary(stoppedBy)
}
