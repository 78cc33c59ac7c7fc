import type { CounterAddress } from '../../src/counters/counter-address.ts'
import type { Random } from './random.ts'
import { numberOf, recordIdOf } from './spread-id.ts'

const RECORD_TYPE = 1

/**
 * Keys whose popularity follows Zipf's law: the n-th one is hit in proportion to 1 / n. Their record ids spread like hashes, and
 * tell the rank.
 */
export class Keys {
  readonly number: number
  /** By rank from 0: the share of hits that this key and those before it get. */
  readonly #upTo: Float64Array
  readonly #addresses: CounterAddress[] = []

  constructor(number: number) {
    this.number = number
    this.#upTo = new Float64Array(number)
    let sum = 0
    for (let rank = 0; rank < number; rank++) {
      sum += 1 / (rank + 1)
      this.#upTo[rank] = sum
    }
    for (let rank = 0; rank < number; rank++) this.#upTo[rank]! /= sum
  }

  /** The share of all hits that a key gets. */
  share(rank: number): number {
    return this.#upTo[rank]! - (rank === 0 ? 0 : this.#upTo[rank - 1]!)
  }

  /** The rank of the key of a hit. */
  draw(random: Random): number {
    const at = random.fraction()
    let low = 0
    let high = this.number - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#upTo[middle]! > at) high = middle
      else low = middle + 1
    }
    return low
  }

  address(rank: number): CounterAddress {
    this.#addresses[rank] ??= {
      recordType: RECORD_TYPE,
      recordId: recordIdOf(BigInt(rank + 1)),
      name: `/articles/${rank + 1}`,
    }
    return this.#addresses[rank]!
  }

  rankOf(recordId: bigint): number {
    return Number(numberOf(recordId)) - 1
  }

  /**
   * The expected number of different keys among Poisson-distributed hits, that is the sum of 1 - e^(-hits × share). Keys of similar
   * shares are summed together.
   */
  different(hits: number): number {
    let sum = 0
    for (let first = 0; first < this.number; ) {
      const next = Math.min(this.number, Math.max(first + 1, Math.floor(first * 1.02)))
      const keys = next - first
      const share = (this.#upTo[next - 1]! - (first === 0 ? 0 : this.#upTo[first - 1]!)) / keys
      sum += keys * -Math.expm1(-hits * share)
      first = next
    }
    return sum
  }
}
