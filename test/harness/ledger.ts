import { expect } from 'vitest'
import type { CounterAddress } from '../../src/counters/counter-address.ts'
import { countIn, readCounters } from '../../src/counters/read/read-counters.ts'
import type { TestDatabase } from './database.ts'

/** The sums of a counter's increments, positive and negative ones apart, so that each sum only moves away from zero. */
interface Entry {
  begunUp: bigint
  begunDown: bigint
  acknowledgedUp: bigint
  acknowledgedDown: bigint
}

/**
 * Records what the counters must be. A reading must include all that was acknowledged before it began, and may include what
 * began before it ended.
 */
export class Ledger {
  readonly counters: readonly CounterAddress[]
  readonly #entries: Entry[]
  /** Number of readings checked. */
  checked = 0

  constructor(counters: readonly CounterAddress[]) {
    this.counters = counters
    this.#entries = counters.map(() => ({ begunUp: 0n, begunDown: 0n, acknowledgedUp: 0n, acknowledgedDown: 0n }))
  }

  /** Records an increment that is about to be sent. */
  begin(index: number, by: bigint): void {
    this.#entries[index]![by > 0n ? 'begunUp' : 'begunDown'] += by
  }

  /** Records that it was acknowledged. */
  acknowledge(index: number, by: bigint): void {
    this.#entries[index]![by > 0n ? 'acknowledgedUp' : 'acknowledgedDown'] += by
  }

  /** Reads all counters at once, and checks each against its bounds. */
  async checkReading(db: TestDatabase): Promise<void> {
    const before = this.#entries.map((entry) => ({ ...entry }))
    const readings = await readCounters(db, this.counters)
    for (const [index, reading] of readings.entries()) {
      const { total, pending } = reading
      const lowest = before[index]!.acknowledgedUp + this.#entries[index]!.begunDown
      const highest = this.#entries[index]!.begunUp + before[index]!.acknowledgedDown
      const count = countIn(reading)
      if (count < lowest || count > highest) {
        expect.fail(`counter ${index} read ${total} + ${pending} = ${count}, not from ${lowest} to ${highest}`)
      }
      // The total is checked too: moving slots twice would show here long before the total left 64 bits.
      const bound = this.#entries[index]!.begunUp - this.#entries[index]!.begunDown
      if (total > bound || total < -bound) expect.fail(`the total of counter ${index} is ${total}, beyond ±${bound}`)
    }
    this.checked++
  }

  /** Checks that every counter equals the acknowledged sum. Call it only when nothing is in flight. */
  async checkExactly(db: TestDatabase): Promise<void> {
    const readings = await readCounters(db, this.counters)
    expect(readings.map(countIn)).toEqual(
      this.#entries.map(({ acknowledgedUp, acknowledgedDown }) => acknowledgedUp + acknowledgedDown),
    )
  }
}
