/** Random numbers that come again with the same seed: mulberry32, by T. Ettinger, in the public domain. */
export class Random {
  readonly seed: number
  #state: number

  /** @param seed a whole number; by default `FAULTS_SEED`, or else one that is drawn; it is printed */
  constructor(seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 32))) {
    this.seed = seed >>> 0
    this.#state = this.seed
    console.log(`FAULTS_SEED=${this.seed}`)
  }

  /** From 0 to below 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!
  }
}
