import type { Executor } from '../../database/database.ts'

/** What a batch adds to one slot, and the id by which that slot recognizes the batch. */
export interface BatchRow {
  recordType: number
  recordId: bigint
  slot: bigint
  count: bigint
  batch: bigint
}

/** Rows of one statement: each slot once, in primary key order, so that no two batches lock rows in opposite orders. */
export type Batch = readonly BatchRow[]

/** Hours for which a writer's slot is kept after its last batch: longer than a batch is sent again (`MAX_RESEND_MS`). */
export const WRITER_HOURS = 1

/**
 * Hours for which rows are kept, so that they recognize their batch. If only one batch is ever written to each of their slots,
 * they recognize it as long as they are kept: for the repeats of clients, and the queue.
 * @param idempotencyHours `PRUNING.idempotency_hours`
 */
export function hoursKept(rows: readonly { slot: unknown; batch: unknown }[], idempotencyHours: number): number {
  return rows.every(({ slot, batch }) => slot === batch) ? idempotencyHours : Math.min(WRITER_HOURS, idempotencyHours)
}

/**
 * Applies a batch. Applying it again changes nothing, row by row, provided that no other batch was applied to its slots in
 * between. The caller guarantees that (`SlotPool`).
 * @returns `settled`: whether no attempt can still reach the database. Otherwise the slots must stay with this batch.
 */
export async function applyBatch(db: Executor, batch: Batch, idempotencyHours: number): Promise<{ settled: boolean }> {
  if (batch.length === 0) return { settled: true }
  // Integers, written into the statement: binding them takes the driver several times as long. The hour is the database's, as
  // in pruning: one clock for both.
  const values = batch.map(
    (row) =>
      `(${row.recordType},${row.recordId},${row.slot},${row.count},${row.batch},FLOOR(UNIX_TIMESTAMP()/3600)+${hoursKept([row], idempotencyHours)})`,
  )
  const { straggler } = await db.execute(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until) VALUES ${values.join(',')}
     ON DUPLICATE KEY UPDATE
       count = count + IF(batch = VALUES(batch), 0, VALUES(count)),
       batch = VALUES(batch),
       kept_until = VALUES(kept_until)`,
  )
  return { settled: straggler === undefined }
}
