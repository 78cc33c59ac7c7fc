import { expect } from 'vitest'
import type { Counter } from '../../src/counters/counter.ts'
import { readCounters } from '../../src/counters/read.ts'
import type { TestDatabase } from './database.ts'

/** Sums of one counter's increments since the beginning, up and down apart: both only ever grow away from zero. */
interface Entry {
  begunUp: bigint
  begunDown: bigint
  acknowledgedUp: bigint
  acknowledgedDown: bigint
}

/**
 * What the counters must say, kept beside the database. At any instant a reader sees everything that was acknowledged
 * before it began, and perhaps some of what was begun before it ended.
 */
export class Ledger {
  readonly counters: readonly Counter[]
  readonly #entries: Entry[]
  /** Readings that were checked. */
  checked = 0

  constructor(counters: readonly Counter[]) {
    this.counters = counters
    this.#entries = counters.map(() => ({ begunUp: 0n, begunDown: 0n, acknowledgedUp: 0n, acknowledgedDown: 0n }))
  }

  /** Books an increment that is about to be sent. */
  begin(index: number, by: bigint): void {
    this.#entries[index]![by > 0n ? 'begunUp' : 'begunDown'] += by
  }

  /** Books that it was acknowledged. */
  acknowledge(index: number, by: bigint): void {
    this.#entries[index]![by > 0n ? 'acknowledgedUp' : 'acknowledgedDown'] += by
  }

  /** Books that a counter is about to be set, by which it changes nobody knows how much, at most by a bound. */
  beginSetting(index: number, bound: bigint): void {
    this.#entries[index]!.begunUp += bound
    this.#entries[index]!.begunDown -= bound
  }

  /** Books by how much it was changed. */
  acknowledgeSetting(index: number, bound: bigint, by: bigint): void {
    this.begin(index, by)
    this.acknowledge(index, by)
    this.beginSetting(index, -bound)
  }

  /** Reads all counters at once and checks each against what may be true by now. */
  async checkReading(db: TestDatabase): Promise<void> {
    const before = this.#entries.map((entry) => ({ ...entry }))
    const readings = await readCounters(db, this.counters)
    for (const [index, { total, pending }] of readings.entries()) {
      const lowest = before[index]!.acknowledgedUp + this.#entries[index]!.begunDown
      const highest = this.#entries[index]!.begunUp + before[index]!.acknowledgedDown
      const count = total + pending
      if (count < lowest || count > highest) {
        expect.fail(`counter ${index} read ${total} + ${pending} = ${count}, not within ${lowest} … ${highest}`)
      }
      // Neither part strays: subtracting the same twice would show here long before it left 64 bits.
      const bound = this.#entries[index]!.begunUp - this.#entries[index]!.begunDown
      if (total > bound || total < -bound) expect.fail(`the total of counter ${index} is ${total}, beyond ±${bound}`)
    }
    this.checked++
  }

  /** Checks that every counter says exactly what was acknowledged. For when nothing is on its way. */
  async checkExactly(db: TestDatabase): Promise<void> {
    const readings = await readCounters(db, this.counters)
    expect(readings.map(({ total, pending }) => total + pending)).toEqual(
      this.#entries.map(({ acknowledgedUp, acknowledgedDown }) => acknowledgedUp + acknowledgedDown),
    )
  }

  /** The sum of everything acknowledged. */
  get sum(): bigint {
    return this.#entries.reduce(
      (sum, { acknowledgedUp, acknowledgedDown }) => sum + acknowledgedUp + acknowledgedDown,
      0n,
    )
  }
}
