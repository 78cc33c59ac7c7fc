import type { CounterPlace } from './keys/counter-address.ts'

/**
 * SQL of the pending slots of one counter: `slotted_counters WHERE …`.
 *
 * It names no index, because the best one depends on the counter:
 *
 * - `pending` has only slots that are not empty, but each of them costs a step from the index to its row.
 * - The primary key holds the rows themselves, side by side, but also the empty slots that wait for pruning.
 *
 * For a single counter, the optimizers of MySQL and MariaDB look into both indexes and choose the one with less to read. A
 * thousand slots of which few are empty take a third of the time by primary key.
 *
 * The values are integers, so they are written into the statement: see `applyBatch`.
 */
export function pendingSlotsSql({ recordType, recordId }: CounterPlace): string {
  return `slotted_counters WHERE pending = 1 AND record_type = ${recordType} AND record_id = ${recordId}`
}
