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
