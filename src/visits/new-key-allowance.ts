import { BoundedMap } from '../bounded-map.ts'
import { exceedsLimit, type RateLimit } from './rate-limit.ts'

/** Milliseconds for which a key that one request may bring into being is allowed to all others. */
const ALLOWED_MS = 60_000
/** Keys in one generation of the map; it holds two generations. */
const MAX_GENERATION = 10_000

/** Keeps a network from using up the budget of new keys that is for all of them. Plain data, bounded. */
export class NewKeyAllowance {
  readonly #limit: RateLimit | null
  readonly #allowed = new BoundedMap<number>(MAX_GENERATION)

  /** @param limit the platform's; `null`: every network may bring in every key */
  constructor(limit: RateLimit | null) {
    this.#limit = limit
  }

  /**
   * Whether a request may bring a counter into being.
   *
   * @param counter identifies it
   * @param address as for `exceedsLimit`
   */
  async allows(counter: string, address: string | null): Promise<boolean> {
    if (this.#limit === null || this.wasAllowed(counter)) return true
    if (await exceedsLimit(this.#limit, address)) return false
    this.#allowed.set(counter, Date.now())
    return true
  }

  /** Whether another request was allowed to. */
  wasAllowed(counter: string): boolean {
    const at = this.#allowed.get(counter)
    return at !== undefined && Math.abs(Date.now() - at) < ALLOWED_MS
  }
}
