import { BoundedMap } from '../bounded-map.ts'
import { Attempts } from './attempts.ts'

/** Keys of a network in a minute and isolate that may become new counters. Its other keys count only if they exist. */
export const MAX_NEW_KEYS = 30
const MINUTE_MS = 60_000
/** Keys in one generation of the map; it holds two generations. */
const MAX_GENERATION = 10_000

/** Keeps a network from using up the budget of new keys that is for all of them. Plain data, bounded. */
export class NewKeyAllowance {
  readonly #taken = new Attempts(MAX_NEW_KEYS)
  /** The minute in which a network was allowed a key. */
  readonly #allowed = new BoundedMap<number>(MAX_GENERATION)

  /**
   * Whether a key of a network may become a new counter. Asked about the same key again, also at the same time, the answer is the
   * same until the minute is over.
   *
   * @param counter identifies the counter of the key
   */
  allows(network: string, counter: string, now: number): boolean {
    const id = `${network} ${counter}`
    const minute = Math.floor(now / MINUTE_MS)
    if (this.#allowed.get(id) === minute) return true
    if (this.#taken.take(network, now) > 0) return false
    this.#allowed.set(id, minute)
    return true
  }
}
