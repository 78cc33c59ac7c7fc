import { random63 } from '../ids.ts'

/** Free slots kept for later: more than the batches that one isolate ever has in flight. */
const MAX_FREE = 64

/**
 * The slots that one isolate writes to. A slot belongs to one batch from its first sending until its outcome is known: a slot
 * stores only the id of the last batch applied to it, so it could not recognize an earlier one that is sent again. The slot
 * that was released last is leased first: fewer slots per counter make reading cheaper. Plain data, shared by an isolate's
 * requests.
 */
export class SlotPool {
  readonly #free: bigint[] = []

  lease(): bigint {
    return this.#free.pop() ?? random63()
  }

  /** Returns a slot once the outcome of its batch is known. If it stays unknown, no other batch may be written to the slot. */
  release(slot: bigint): void {
    if (this.#free.length < MAX_FREE) this.#free.push(slot)
  }
}
