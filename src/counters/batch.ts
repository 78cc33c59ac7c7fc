import type { Executor } from '../database/database.ts'
import { byPrimaryKey, type Counter, counterId } from './counter.ts'

/** Something to add to one counter; negative to subtract. */
export interface Increment {
  counter: Counter
  by: bigint
}

/** What a batch adds to one slot. */
interface BatchRow {
  recordType: number
  recordId: bigint
  slot: bigint
  count: bigint
}

/** Increments that are written by one statement, under an id by which the database recognises them. */
export interface Batch {
  id: bigint
  rows: readonly BatchRow[]
}

/**
 * Makes a batch: one row per counter, because a second row of the same batch for the same slot would be taken for a repeat.
 * Rows are in primary key order, so that two batches never lock in opposite orders.
 *
 * @param id a random number, or the hash of an idempotency key; never 0
 * @param slotOf chooses the slot for a counter
 */
export function makeBatch(id: bigint, increments: readonly Increment[], slotOf: (counter: Counter) => bigint): Batch {
  const rows = new Map<string, BatchRow>()
  for (const { counter, by } of increments) {
    const row = rows.get(counterId(counter))
    if (row) row.count += by
    else {
      const { recordType, recordId } = counter
      rows.set(counterId(counter), { recordType, recordId, slot: slotOf(counter), count: by })
    }
  }
  return { id, rows: [...rows.values()].filter(({ count }) => count !== 0n).sort(byPrimaryKey) }
}

/**
 * Applies a batch. Applying it again changes nothing, row by row, as long as no other batch was applied to its slots in
 * between; that is for the caller to see to (`SlotPool`).
 *
 * @returns whether nothing of this batch can reach the database any more: not if an attempt that was given up may still
 *   be on its way. Then the slots stay its own although it has been applied.
 * @throws {DatabaseFailure}
 */
export async function applyBatch(db: Executor, { id, rows }: Batch): Promise<{ settled: boolean }> {
  if (rows.length === 0) return { settled: true }
  // The hour comes from the database, like the hour that pruning compares it with: one clock for both.
  const values = rows.map(() => '(?, ?, ?, ?, ?, FLOOR(UNIX_TIMESTAMP() / 3600))').join(', ')
  const { straggler } = await db.execute(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES ${values}
     ON DUPLICATE KEY UPDATE
       count = count + IF(batch = VALUES(batch), 0, VALUES(count)),
       batch = VALUES(batch),
       written_hour = VALUES(written_hour)`,
    rows.flatMap(({ recordType, recordId, slot, count }) => [recordType, recordId, slot, count, id]),
  )
  return { settled: straggler === undefined }
}
