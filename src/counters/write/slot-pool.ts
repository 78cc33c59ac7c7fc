import { random63 } from '../ids.ts'

/** Free slots kept for later. More than the batches that one isolate ever has in flight would be useless. */
const MAX_FREE = 64

/**
 * The slots that one isolate writes to. A slot belongs to one batch from the moment the batch is sent until its outcome is known.
 * Otherwise the slot, which stores only the id of the last batch applied to it, could not recognize a batch that is sent again.
 *
 * So batches that are in flight at the same time each lease a slot. The slot that was released last is leased first. This keeps
 * the number of slots per counter, and with it the cost of reading, as small as the concurrency allows.
 *
 * Plain data, shared by an isolate's requests.
 */
export class SlotPool {
  readonly #free: bigint[] = []

  /** Takes a slot that no other batch is using. */
  lease(): bigint {
    return this.#free.pop() ?? random63()
  }

  /**
   * Returns a slot once the outcome of its batch is known. A slot whose batch has an unknown outcome is never returned: no other
   * batch may be written to it.
   */
  release(slot: bigint): void {
    if (this.#free.length < MAX_FREE) this.#free.push(slot)
  }
}
