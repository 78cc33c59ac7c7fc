import { random64 } from './random.ts'

/** Free slots kept for later; more than ever wait for the database at once in one isolate would be waste. */
const MAX_FREE = 64

/**
 * The slots that one isolate writes to. A slot belongs to one batch at a time, from the moment it is sent until its outcome
 * is known: only then does "the last batch applied" recognise a batch that is sent again. So batches in flight at the same
 * time each lease a slot, and the one freed last is leased next, which keeps the number of slots per counter, and with it
 * the cost of reading, as small as the concurrency allows.
 *
 * Holds plain data only, so that it may live in module scope and be shared by requests.
 */
export class SlotPool {
  readonly #free: bigint[] = []

  /** Takes a slot that no other batch is using. */
  lease(): bigint {
    return this.#free.pop() ?? random64()
  }

  /**
   * Gives a slot back once the outcome of its batch is known. A slot whose batch has an unknown fate is never given back:
   * nothing but that batch may be written to it.
   */
  release(slot: bigint): void {
    if (this.#free.length < MAX_FREE) this.#free.push(slot)
  }
}
