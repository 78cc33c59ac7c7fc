/** Keeps at least the `limit` most recently set entries, and twice that at most. Deleting the oldest of a Map each time is slow in V8. */
export class BoundedMap<Value> {
  readonly #limit: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** @param limit entries in one generation; the map holds two generations */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  has(key: string): boolean {
    return this.#young.has(key) || this.#old.has(key)
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
