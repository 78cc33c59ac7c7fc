import type { Database, Executor } from '../../database/database.ts'
import { withRetries } from '../../database/retry.ts'
import { countStatements } from '../../database/statement-budget.ts'
import { packedSql, unpack } from '../../database/values.ts'
import type { StoppedBy } from '../background-runs.ts'
import { rowsByRange } from '../ranges.ts'
import type { Cursor } from './lease.ts'

export interface PruningSettings {
  /** How long an empty slot is kept, to recognize a batch that is sent again. */
  idempotencyHours: number
  /** Slots that one page reads and deletes. */
  pageSlots: number
  /** Each is one subrequest of the Worker. */
  maxStatements: number
  /** No further page starts after this. Default: no limit. */
  maxSeconds?: number
}

export interface PruneSummary {
  outcome: 'complete' | 'partial'
  /** The budget that ended the run early. */
  stoppedBy: StoppedBy | null
  deleted: number
  statements: number
  milliseconds: number
}

interface OldSlot extends Cursor {
  hour: bigint
}

/**
 * Deletes empty slots to which no batch was applied within the idempotency window, oldest first, page by page. Slots are read
 * without locks and then deleted by primary key: a range delete would lock the gaps that writers insert into.
 */
export async function prune(database: Database, settings: PruningSettings): Promise<PruneSummary> {
  const { idempotencyHours, pageSlots, maxStatements, maxSeconds = Number.POSITIVE_INFINITY } = settings
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  let deleted = 0
  let after: OldSlot | null = null
  const summary = (stoppedBy: StoppedBy | null): PruneSummary => {
    const outcome = stoppedBy === null ? 'complete' : 'partial'
    return { outcome, stoppedBy, deleted, statements: counted.sent, milliseconds: Date.now() - began }
  }
  while (counted.sent + 1 + database.ranges <= maxStatements) {
    if (Date.now() - began >= maxSeconds * 1_000) return summary('seconds')
    const page: OldSlot[] = await readOldSlots(db, idempotencyHours, after, pageSlots)
    if (page.length === 0) return summary(null)
    const parts = [...rowsByRange(page, database.ranges).values()]
    const counts = await Promise.all(parts.map((part) => deleteEmptySlots(db, idempotencyHours, part)))
    deleted += counts.reduce((sum, count) => sum + count, 0)
    if (page.length < pageSlots) return summary(null)
    after = page.at(-1)!
  }
  return summary('statements')
}

async function deleteEmptySlots(db: Executor, idempotencyHours: number, slots: readonly OldSlot[]): Promise<number> {
  // Integers, written into the statement: see applyBatch. `+ 0` keeps the optimizer from the index on written_hour, whose gaps
  // must not be locked.
  const { rowsAffected } = await db.execute(
    `DELETE FROM slotted_counters
     WHERE (record_type, record_id, slot) IN (${slots.map(({ recordType, recordId, slot }) => `(${recordType},${recordId},${slot})`).join(',')})
       AND count = 0 AND written_hour + 0 < FLOOR(UNIX_TIMESTAMP() / 3600) - ${idempotencyHours}`,
  )
  return rowsAffected
}

async function readOldSlots(
  db: Executor,
  idempotencyHours: number,
  after: OldSlot | null,
  limit: number,
): Promise<OldSlot[]> {
  const { hour, recordType, recordId, slot } = after ?? {}
  const resume = after
    ? `AND (written_hour > ? OR (written_hour = ? AND record_type > ?)
         OR (written_hour = ? AND record_type = ? AND record_id > ?)
         OR (written_hour = ? AND record_type = ? AND record_id = ? AND slot > ?))`
    : ''
  const { rows } = await db.execute(
    `SELECT ${packedSql('written_hour', 'record_type', 'record_id', 'slot')} FROM slotted_counters FORCE INDEX (written)
     WHERE written_hour < FLOOR(UNIX_TIMESTAMP() / 3600) - ? ${resume}
     ORDER BY written_hour, record_type, record_id, slot LIMIT ?`,
    after === null
      ? [idempotencyHours, limit]
      : [idempotencyHours, hour, hour, recordType, hour, recordType, recordId, hour, recordType, recordId, slot, limit],
  )
  return rows.map((row) => {
    const [hour, recordType, recordId, slot] = unpack(row) as [string, string, string, string]
    return { hour: BigInt(hour), recordType: Number(recordType), recordId: BigInt(recordId), slot: BigInt(slot) }
  })
}
