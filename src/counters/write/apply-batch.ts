import type { Executor } from '../../database/database.ts'
import { byPrimaryKey, type CounterAddress, counterId } from '../keys/counter-address.ts'

export interface Increment {
  counter: CounterAddress
  by: bigint
  /** Slot and batch id of an increment that counts once however often it is sent. Default: those of its request, if any. */
  key?: bigint
}

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

export type MergedIncrements = Map<string, Increment>

/** Merges increments of the same counter. */
export function mergeIncrements(
  increments: Iterable<Increment>,
  merged: MergedIncrements = new Map(),
): MergedIncrements {
  for (const { counter, by } of increments) {
    const id = counterId(counter)
    const sum = merged.get(id)
    if (sum === undefined) merged.set(id, { counter, by })
    else sum.by += by
  }
  return merged
}

/**
 * Makes a batch of increments.
 * @param id a random number, or the hash of an idempotency key; never 0
 * @param slotOf chooses the slot for a counter
 */
export function makeBatch(
  id: bigint,
  increments: Iterable<Increment>,
  slotOf: (counter: CounterAddress) => bigint,
): Batch {
  return batchOfMerged(id, mergeIncrements(increments), slotOf)
}

/** Makes a batch, one row a counter: a slot would take a second row for a repeat. Increments of 0 get no row. */
export function batchOfMerged(
  id: bigint,
  merged: MergedIncrements,
  slotOf: (counter: CounterAddress) => bigint,
): Batch {
  const rows: BatchRow[] = []
  for (const { counter, by } of merged.values()) {
    const { recordType, recordId } = counter
    if (by !== 0n) rows.push({ recordType, recordId, slot: slotOf(counter), count: by, batch: id })
  }
  return rows.sort(byPrimaryKey)
}

/**
 * Applies a batch. Applying it again changes nothing, row by row, provided that no other batch was applied to its slots in
 * between. The caller guarantees that (`SlotPool`).
 * @returns `settled`: whether no attempt can still reach the database. Otherwise the slots must stay with this batch.
 */
export async function applyBatch(db: Executor, batch: Batch): Promise<{ settled: boolean }> {
  if (batch.length === 0) return { settled: true }
  // Integers, written into the statement: binding them takes the driver several times as long. The hour is the database's, as
  // in pruning: one clock for both.
  const values = batch.map(
    ({ recordType, recordId, slot, count, batch }) =>
      `(${recordType},${recordId},${slot},${count},${batch},FLOOR(UNIX_TIMESTAMP()/3600))`,
  )
  const { straggler } = await db.execute(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES ${values.join(',')}
     ON DUPLICATE KEY UPDATE
       count = count + IF(batch = VALUES(batch), 0, VALUES(count)),
       batch = VALUES(batch),
       written_hour = VALUES(written_hour)`,
  )
  return { settled: straggler === undefined }
}
