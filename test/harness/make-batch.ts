import { byPrimaryKey } from '../../src/counters/counter-address.ts'
import type { Batch } from '../../src/counters/ledger/slots.ts'
import { type Increment, withKey } from '../../src/counters/write/increment-group.ts'

/** A batch of increments in one slot: one row for each counter that changes. */
export function makeBatch(id: bigint, increments: readonly Increment[], slot: bigint): Batch {
  const rows = withKey(increments, id).map(({ counter: { recordType, recordId }, by }) => {
    return { recordType, recordId, slot, count: by, batch: id }
  })
  return rows.filter(({ count }) => count !== 0n).sort(byPrimaryKey)
}
