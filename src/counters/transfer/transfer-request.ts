import type { CounterAddress } from '../keys/counter-address.ts'
import type { TransferKind } from './transfer-records.ts'

/** What to do with a counter. */
export interface TransferRequest {
  kind: TransferKind
  /** The counter that gets everything, of the same type; `null` for deletions. */
  target: CounterAddress | null
  /** Only if its count is below this number. */
  below: bigint | null
  /** A random number, or the hash of an idempotency key. The same key may be used for several sources. */
  id: bigint
  /** Whether `id` is the hash of an idempotency key. */
  keyed: boolean
  /** The current time. */
  at: Date
}
