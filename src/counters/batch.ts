import type { Executor } from '../database/database.ts'
import { byPrimaryKey, type Counter, counterId } from './counter.ts'

/** Something to add to one counter; negative to subtract. */
export interface Increment {
  counter: Counter
  by: bigint
}

/** What a batch adds to one slot, under the id by which that slot recognises it. */
export interface BatchRow {
  recordType: number
  recordId: bigint
  slot: bigint
  count: bigint
  batch: bigint
}

/** Rows that are written by one statement: each slot once, in primary key order, so that no two lock in opposite orders. */
export type Batch = readonly BatchRow[]

/** Adds up increments: one for each counter. */
export function addUp(increments: readonly Increment[]): readonly Increment[] {
  if (increments.length === 1) return increments
  const sums = new Map<string, Increment>()
  for (const { counter, by } of increments) {
    const sum = sums.get(counterId(counter))
    if (sum) sum.by += by
    else sums.set(counterId(counter), { counter, by })
  }
  return [...sums.values()]
}

/**
 * Makes the rows for increments: one per counter, because a second row of the same batch for the same slot would be taken for a
 * repeat. A counter to which nothing is added gets no row.
 *
 * @param id a random number, or the hash of an idempotency key; never 0
 * @param slotOf chooses the slot for a counter
 */
export function makeBatch(id: bigint, increments: readonly Increment[], slotOf: (counter: Counter) => bigint): Batch {
  const rows: BatchRow[] = []
  for (const { counter, by } of addUp(increments)) {
    const { recordType, recordId } = counter
    if (by !== 0n) rows.push({ recordType, recordId, slot: slotOf(counter), count: by, batch: id })
  }
  return rows.sort(byPrimaryKey)
}

/**
 * Applies a batch. Applying it again changes nothing, row by row, as long as no other batch was applied to its slots in
 * between; that is for the caller to see to (`SlotPool`).
 *
 * @returns whether nothing of this batch can reach the database any more: not if an attempt that was given up may still
 *   be on its way. Then the slots stay its own although it has been applied.
 * @throws {DatabaseFailure}
 */
export async function applyBatch(db: Executor, batch: Batch): Promise<{ settled: boolean }> {
  if (batch.length === 0) return { settled: true }
  // Written out rather than bound: they are all integers, and the driver takes several times as long to put them in.
  // The hour comes from the database, like the hour that pruning compares it with: one clock for both.
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
