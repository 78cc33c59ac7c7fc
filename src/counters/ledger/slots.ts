import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import type { CounterPlace } from '../counter-address.ts'
import { counterListsSql, counterValues, sameKeySql } from '../counters-sql.ts'

/** A slot with what it holds, or what is added to it. */
export interface PendingSlot {
  slot: bigint
  count: bigint
}

/** The slots of rows, and their sum. */
export function pendingOf(rows: readonly Record<string, unknown>[]): { slots: PendingSlot[]; pending: bigint } {
  const slots = rows.map(({ slot, count }) => ({ slot: toBigInt(slot), count: toBigInt(count) }))
  return { slots, pending: slots.reduce((sum, { count }) => sum + count, 0n) }
}

/** SQL of the slots of counters of one key that are not empty, at most so many: columns `slot`, `count`, `record_type`. */
export function pendingSlotsOfKeySql(counters: readonly CounterPlace[], most: number): string {
  return `FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND ${sameKeySql(counters)} LIMIT ${most}`
}

/** SQL of columns of the slots of counters that are not empty, at most so many of each type and half of the ids. */
export function pendingSlotsSql(counters: readonly CounterPlace[], columns: string, most: number): string {
  const slots = `SELECT ${columns} FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1`
  const lists = counterListsSql(counters, '', 'pending')
  return lists.map((list) => `(${slots} AND ${list} LIMIT ${most})`).join(' UNION ALL ')
}

/** The rows of an upsert that takes counts out of slots, in primary key order: of counters, then slots. */
export function subtractionsOf(counters: readonly (CounterPlace & { slots: readonly PendingSlot[] })[]): string[] {
  // Integers, written into the statement: see applyBatch. The hour 0: slots that were pruned meanwhile may be pruned again at once.
  return counters.flatMap((counter) => {
    const values = counterValues(counter)
    return counter.slots.map(({ slot, count }) => `(${values},${slot},${-count},0,0)`)
  })
}

/** Adds rows, as `subtractionsOf` writes them. A slot that was pruned meanwhile comes back with a negative count. */
export async function addToSlots(transaction: Executor, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return
  await transaction.execute(
    `INSERT INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until)
     VALUES ${rows.join(',')}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

/** What a batch adds to one slot, and the id by which that slot recognizes the batch. */
export interface BatchRow extends CounterPlace, PendingSlot {
  batch: bigint
}

/** Rows of one statement: each slot once, in primary key order, so that no two batches lock rows in opposite orders. */
export type Batch = readonly BatchRow[]

/** Hours for which a writer's slot is kept after its last batch: longer than a batch is sent again (`MAX_RESEND_MS`). */
export const WRITER_HOURS = 1

/** Hours for which rows are kept, to recognize their batch: longer if no other batch is ever written to their slots (keys, the queue). */
export function hoursKept(rows: readonly { slot: unknown; batch: unknown }[], idempotencyHours: number): number {
  return rows.every(({ slot, batch }) => slot === batch) ? idempotencyHours : Math.min(WRITER_HOURS, idempotencyHours)
}

/**
 * Applies a batch. Applying it again changes nothing, row by row, if no other batch was applied to its slots in between (`SlotPool`).
 * @returns `settled`: whether no attempt can still reach the database. Otherwise the slots must stay with this batch.
 */
export async function applyBatch(db: Executor, batch: Batch, idempotencyHours: number): Promise<{ settled: boolean }> {
  if (batch.length === 0) return { settled: true }
  // Integers, written into the statement: binding takes the driver several times as long. The hour is the database's, as in pruning.
  const values = batch.map(
    (row) =>
      `(${counterValues(row)},${row.slot},${row.count},${row.batch},FLOOR(UNIX_TIMESTAMP()/3600)+${hoursKept([row], idempotencyHours)})`,
  )
  const { straggler } = await db.execute(
    `INSERT INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until) VALUES ${values.join(',')}
     ON DUPLICATE KEY UPDATE
       count = count + IF(batch = VALUES(batch), 0, VALUES(count)),
       batch = VALUES(batch),
       kept_until = VALUES(kept_until)`,
  )
  return { settled: straggler === undefined }
}
