/** What the increments of one counter add up to. */
interface Entry {
  /** Those that may have been counted: all but those that the Worker said were not. */
  begun: number
  acknowledged: number
}

/** A count that does not agree with the ledger. */
export interface Mismatch {
  key: string
  count: number
  least: number
  most: number
}

/** Records what the counters must be. All increments are positive. */
export class Ledger {
  readonly #entries = new Map<string, Entry>()

  /** Records increments that are about to be sent. */
  begin(key: string, by: number): void {
    this.#entry(key).begun += by
  }

  /** Records that they were acknowledged. */
  acknowledge(key: string, by: number): void {
    this.#entry(key).acknowledged += by
  }

  /** Records that they certainly were not counted. */
  refuse(key: string, by: number): void {
    this.#entry(key).begun -= by
  }

  get keys(): string[] {
    return [...this.#entries.keys()]
  }

  /** The sum that was acknowledged, and the sum that is unknown. Requests in flight count as unknown. */
  sums(): { acknowledged: number; unknown: number } {
    let [acknowledged, unknown] = [0, 0]
    for (const entry of this.#entries.values()) {
      acknowledged += entry.acknowledged
      unknown += entry.begun - entry.acknowledged
    }
    return { acknowledged, unknown }
  }

  /**
   * Begins a reading, which must include all that was acknowledged before it.
   *
   * @returns checks the counts once they have been read: they may include what has begun by then
   */
  reading(keys: readonly string[]): (counts: ReadonlyMap<string, number>) => Mismatch[] {
    const least = keys.map((key) => this.#entry(key).acknowledged)
    return (counts) =>
      keys.flatMap((key, i) => {
        const count = counts.get(key) ?? Number.NaN
        const most = this.#entry(key).begun
        return count >= least[i]! && count <= most ? [] : [{ key, count, least: least[i]!, most }]
      })
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const entry = { begun: 0, acknowledged: 0 }
    this.#entries.set(key, entry)
    return entry
  }
}
