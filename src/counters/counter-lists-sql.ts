import type { CounterAddress } from './keys/counter-address.ts'

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
export function counterListsSql(counters: readonly Pick<CounterAddress, 'recordType' | 'recordId'>[]): string[] {
  const lists = new Map<string, { recordType: number; ids: bigint[] }>()
  for (const { recordType, recordId } of counters) {
    const half = `${recordType} ${recordId < SIGNED_LIMIT}`
    const list = lists.get(half)
    if (list === undefined) lists.set(half, { recordType, ids: [recordId] })
    else list.ids.push(recordId)
  }
  return [...lists.values()].map(
    ({ recordType, ids }) => `record_type = ${recordType} AND record_id IN (${ids.join(',')})`,
  )
}
