/** Random numbers that are the same for the same seed: xoshiro128**, by D. Blackman and S. Vigna, in the public domain. */
export class Random {
  readonly #state: Uint32Array

  constructor(seed: number) {
    // Any seed gives a state with many bits set.
    this.#state = Uint32Array.from([1, 2, 3, 4], (n) => Math.imul(seed * 4 + n, 0x9e3779b1) ^ (0x85ebca6b * n))
    for (let n = 0; n < 20; n++) this.bits32()
  }

  /** 32 random bits. */
  bits32(): number {
    const s = this.#state
    const rotate = (x: number, k: number) => (x << k) | (x >>> (32 - k))
    const result = Math.imul(rotate(Math.imul(s[1]!, 5), 7), 9) >>> 0
    const t = s[1]! << 9
    s[2]! ^= s[0]!
    s[3]! ^= s[1]!
    s[1]! ^= s[2]!
    s[0]! ^= s[3]!
    s[2]! ^= t
    s[3] = rotate(s[3]!, 11)
    return result
  }

  /** From 0 to below 1. */
  fraction(): number {
    return this.bits32() / 2 ** 32
  }

  /** Exponentially distributed. */
  exponential(mean: number): number {
    return -Math.log(1 - this.fraction()) * mean
  }

  /** Replaces the random numbers of this process, so that a run can be repeated. */
  install(): void {
    Math.random = () => this.fraction()
    const fill = (array: BigUint64Array) => {
      const words = new Uint32Array(array.buffer, array.byteOffset, array.byteLength / 4)
      for (let n = 0; n < words.length; n++) words[n] = this.bits32()
      return array
    }
    Object.defineProperty(globalThis.crypto, 'getRandomValues', { value: fill })
  }
}
