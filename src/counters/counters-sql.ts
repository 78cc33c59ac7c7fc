import type { CounterPlace } from './keys/counter-address.ts'

const SIGNED_LIMIT = 2n ** 63n

/**
 * SQL conditions on `record_type` and `record_id` that together select counters: one for each type and half of the record ids.
 *
 * - vtgate merges the SELECTs of a UNION ALL into one query per shard, and so one snapshot, if they follow each other and have
 *   the same list of record ids (Vitess `operators/union_merging.go`). It does not do that for lists of pairs.
 * - MariaDB cannot use an index for a list of numbers below and above 2^63, and would read all counters of the type.
 *
 * The values are integers, so they are written into the statement: see `applyBatch`.
 *
 * @param counters each counter once
 */
export function counterListsSql(counters: readonly CounterPlace[]): string[] {
  const halves = Map.groupBy(counters, ({ recordType, recordId }) => `${recordType} ${recordId < SIGNED_LIMIT}`)
  return [...halves.values()].map((half) => {
    const ids = half.map(({ recordId }) => recordId)
    return `record_type = ${half[0]!.recordType} AND record_id IN (${ids.join(',')})`
  })
}

/** The most pending slots of a counter that are added up for somebody without a token. */
export const MAX_PUBLIC_PENDING = 2_000

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

/**
 * SQL of a column: what is pending of the counter of a row of `counter_names AS n`, or NULL if that is in more than `most` slots.
 * Finding out reads at most one entry of the index more than that, and adding up reads them again.
 *
 * vtgate sends it to the shards within the statement that it is a part of, because it names the record id of the row.
 */
export function boundedPendingSql(most: number): string {
  const slots = `slotted_counters AS s FORCE INDEX (pending)
        WHERE s.pending = 1 AND s.record_type = n.record_type AND s.record_id = n.record_id`
  return `IF((SELECT 1 FROM ${slots} LIMIT ${most}, 1) IS NULL, (SELECT COALESCE(SUM(s.count), 0) FROM ${slots}), NULL)`
}
