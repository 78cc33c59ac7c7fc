import { BoundedMap } from '../bounded-map.ts'

/** Attempts at tokens that a network has in a minute, in one isolate. */
export const MAX_ATTEMPTS = 20
const WINDOW_MS = 60_000
/** Networks in one generation; it holds two generations. */
const MAX_GENERATION = 5_000

/** Counts attempts by network, within minutes of the clock. It works without a rate limit of the platform. Plain data. */
export class Attempts {
  readonly #most: number
  #window = 0
  #counts = new BoundedMap<number>(MAX_GENERATION)

  /** @param most attempts of a network in a minute */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Takes one attempt. Counted before its outcome is known, so that attempts at the same time are counted too.
   *
   * @returns the seconds to wait if the network has none left, else 0
   */
  take(network: string, now: number): number {
    const window = Math.floor(now / WINDOW_MS)
    if (window !== this.#window) {
      this.#window = window
      this.#counts = new BoundedMap(MAX_GENERATION)
    }
    const taken = this.#counts.get(network) ?? 0
    if (taken >= this.#most) return Math.ceil(((window + 1) * WINDOW_MS - now) / 1_000)
    this.#counts.set(network, taken + 1)
    return 0
  }
}
