/**
 * A bounded map that remembers what was set most recently: between one and two times `limit` entries. Two generations
 * instead of a queue, because deleting a Map's oldest entry one at a time gets slow (V8 steps over the holes).
 */
export class Generations<Value> {
  readonly #limit: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** @param limit entries in one generation; two of them are remembered */
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
