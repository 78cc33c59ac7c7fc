import type { Executor } from '../../database/database.ts'
import { byPrimaryKey, type CounterAddress, counterId } from '../keys/counter-address.ts'
import { isKeyed, type KeptHours } from './kept-hours.ts'

export interface Increment {
  counter: CounterAddress
  by: bigint
  /** Slot and batch id of an increment that counts once however often it is sent. Default: those of its request, if any. */
  key?: bigint | undefined
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
 * Makes a batch of increments in one slot, one row a counter: a slot would take a second row for a repeat. Increments of 0 get
 * no row.
 * @param id a random number, or the hash of an idempotency key; never 0
 */
export function makeBatch(id: bigint, increments: Iterable<Increment>, slot: bigint): Batch {
  const rows: BatchRow[] = []
  for (const { counter, by } of mergeIncrements(increments).values()) {
    if (by !== 0n) rows.push({ recordType: counter.recordType, recordId: counter.recordId, slot, count: by, batch: id })
  }
  return rows.sort(byPrimaryKey)
}

/**
 * Applies a batch. Applying it again changes nothing, row by row, provided that no other batch was applied to its slots in
 * between. The caller guarantees that (`SlotPool`).
 * @returns `settled`: whether no attempt can still reach the database. Otherwise the slots must stay with this batch.
 */
export async function applyBatch(
  db: Executor,
  batch: Batch,
  { writer, keyed }: KeptHours,
): Promise<{ settled: boolean }> {
  if (batch.length === 0) return { settled: true }
  // Integers, written into the statement: binding them takes the driver several times as long. The hour is the database's, as
  // in pruning: one clock for both.
  const values = batch.map(
    (row) =>
      `(${row.recordType},${row.recordId},${row.slot},${row.count},${row.batch},FLOOR(UNIX_TIMESTAMP()/3600)+${isKeyed(row) ? keyed : writer})`,
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
