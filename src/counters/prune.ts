import type { PruningSettings } from '../config.ts'
import { countStatements } from '../database/counted.ts'
import type { Database } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { withRetries } from '../database/retry.ts'

/** What one pruning run did. */
export interface PruneSummary {
  outcome: 'complete' | 'partial'
  deleted: number
  statements: number
  milliseconds: number
}

interface Address {
  hour: bigint
  recordType: number
  recordId: bigint
  slot: bigint
}

/**
 * Deletes slots that are empty and that no batch was applied to within the idempotency window, oldest first, page by page.
 * A slot that holds anything is never deleted, so deleting cannot change a count. What is left is taken up by the next run.
 *
 * Slots are read without locks and then deleted by primary key: a range delete would lock the gaps that writers insert into.
 *
 * @throws {DatabaseFailure}
 */
export async function prune(database: Database, settings: PruningSettings): Promise<PruneSummary> {
  const { idempotencyHours, pageSlots, maxStatements } = settings
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  let deleted = 0
  let after: Address | null = null
  const summary = (outcome: PruneSummary['outcome']): PruneSummary => {
    return { outcome, deleted, statements: counted.sent, milliseconds: Date.now() - began }
  }
  while (counted.sent + 2 <= maxStatements) {
    const page: Address[] = await readOldSlots(db, idempotencyHours, after, pageSlots)
    if (page.length === 0) return summary('complete')
    // written_hour + 0: keeps the optimizer from that index, whose gaps must not be locked.
    const { rowsAffected } = await db.execute(
      `DELETE FROM slotted_counters
       WHERE (record_type, record_id, slot) IN (${page.map(() => '(?, ?, ?)').join(', ')})
         AND count = 0 AND written_hour + 0 < FLOOR(UNIX_TIMESTAMP() / 3600) - ?`,
      [...page.flatMap(({ recordType, recordId, slot }) => [recordType, recordId, slot]), idempotencyHours],
    )
    deleted += rowsAffected
    if (page.length < pageSlots) return summary('complete')
    after = page.at(-1)!
  }
  return summary('partial')
}

async function readOldSlots(
  db: Pick<Database, 'execute'>,
  idempotencyHours: number,
  after: Address | null,
  limit: number,
): Promise<Address[]> {
  const resume = after
    ? `AND (written_hour > ? OR (written_hour = ? AND record_type > ?)
         OR (written_hour = ? AND record_type = ? AND record_id > ?)
         OR (written_hour = ? AND record_type = ? AND record_id = ? AND slot > ?))`
    : ''
  const { rows } = await db.execute(
    `SELECT written_hour, record_type, record_id, slot FROM slotted_counters FORCE INDEX (written)
     WHERE written_hour < FLOOR(UNIX_TIMESTAMP() / 3600) - ? ${resume}
     ORDER BY written_hour, record_type, record_id, slot LIMIT ?`,
    after === null ? [idempotencyHours, limit] : [idempotencyHours, ...resumeArguments(after), limit],
  )
  return rows.map((row) => ({
    hour: toBigInt(row.written_hour),
    recordType: Number(row.record_type),
    recordId: toBigInt(row.record_id),
    slot: toBigInt(row.slot),
  }))
}

function resumeArguments({ hour, recordType, recordId, slot }: Address): unknown[] {
  return [hour, hour, recordType, hour, recordType, recordId, hour, recordType, recordId, slot]
}
