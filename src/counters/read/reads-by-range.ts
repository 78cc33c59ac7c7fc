import { type CounterAddress, counterId } from '../keys/counter-address.ts'
import { rowsByRange } from '../ranges.ts'
import type { SharedReading, SharedReads } from './shared-reads.ts'

/** Reads counters of several ranges: one `SharedReads` for each, so that every query goes to one shard. */
export class ReadsByRange<Value> {
  readonly #reads: readonly SharedReads<Value>[]

  /** @param reads one for each range */
  constructor(reads: readonly SharedReads<Value>[]) {
    this.#reads = reads
  }

  /** Requests that wait, once for each range, and queries in flight. */
  get load(): { waiting: number; queries: number } {
    const loads = this.#reads.map(({ load }) => load)
    return {
      waiting: loads.reduce((sum, { waiting }) => sum + waiting, 0),
      queries: loads.reduce((sum, { queries }) => sum + queries, 0),
    }
  }

  /** Reads counters, in the order given. See `SharedReads.read`. */
  async read(
    counters: readonly CounterAddress[],
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<SharedReading<Value>> {
    if (this.#reads.length === 1) return this.#reads[0]!.read(counters, waitUntil)
    const parts = [...rowsByRange(counters, this.#reads.length)]
    const readings = await Promise.all(parts.map(([range, part]) => this.#reads[range]!.read(part, waitUntil)))
    const values = new Map<string, Value>()
    for (const [index, [, part]] of parts.entries()) {
      for (const [place, counter] of part.entries()) values.set(counterId(counter), readings[index]!.values[place]!)
    }
    return {
      values: counters.map((counter) => values.get(counterId(counter))!),
      shared: readings.some(({ shared }) => shared),
      tookMs: Math.max(0, ...readings.map(({ tookMs }) => tookMs)),
    }
  }
}
