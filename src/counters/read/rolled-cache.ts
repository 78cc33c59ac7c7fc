import { BoundedMap } from '../../bounded-map.ts'
import { type CounterAddress, counterId } from '../keys/counter-address.ts'
import type { Reading } from './read-counters.ts'
import type { SharedReading, SharedReads } from './shared-reads.ts'

/** In one generation of the cache; it holds two. */
const MAX_GENERATION = 5_000

/** How long a total is cached, here and by clients. */
export const MAX_AGE_MS = 30_000
/** An entry with less time left is not used: clients could not cache it at all. */
const LEAST_REMAINING_MS = 1_000

interface CachedTotal<Value> {
  reading: Value
  readAt: number
}

/**
 * Reads totals and caches them: they change only with roll-ups. Plain data, bounded, shared by an isolate's requests. Changes
 * made by another isolate show when the cached total expires.
 */
export class RolledCache<Value = Reading> {
  readonly #reads: Pick<SharedReads<Value>, 'read'>
  readonly #related: { forget(): void } | null
  #cached = new BoundedMap<CachedTotal<Value>>(MAX_GENERATION)

  /** @param reads with consistency `rolled` @param related a cache that is cleared with this one */
  constructor(reads: Pick<SharedReads<Value>, 'read'>, related: { forget(): void } | null = null) {
    this.#reads = reads
    this.#related = related
  }

  /**
   * Reads totals, in the order given, from the cache where they are fresh enough.
   * @param fresh whether to bypass the cache
   * @returns `ageMs`: the age of the oldest one
   */
  async read(
    counters: readonly CounterAddress[],
    waitUntil: (work: Promise<unknown>) => void,
    { fresh }: { fresh: boolean },
  ): Promise<SharedReading<Value> & { ageMs: number }> {
    const now = Date.now()
    const cached = counters.map((counter) => (fresh ? undefined : this.#recall(counter, now)))
    const missing = counters.filter((_, index) => cached[index] === undefined)
    // `forget` replaces the map. Totals that are being read then go into the old one.
    const target = this.#cached
    const none = { values: [], shared: false, tookMs: 0 }
    const found = missing.length === 0 ? none : await this.#reads.read(missing, waitUntil)
    // A total that was read just now is as old as the query took.
    const read = found.values.map((reading) => ({ reading, readAt: now }))
    for (const [index, counter] of missing.entries()) target.set(counterId(counter), read[index]!)
    const then = Date.now()
    const totals = cached.map((total) => total ?? read.shift()!)
    const ageMs = totals.reduce((oldest, { readAt }) => Math.max(oldest, then - readAt), 0)
    return { ...found, values: totals.map(({ reading }) => reading), ageMs }
  }

  #recall(counter: CounterAddress, now: number): CachedTotal<Value> | undefined {
    const total = this.#cached.get(counterId(counter))
    if (total === undefined) return undefined
    const age = now - total.readAt
    // A negative age means that the clock was set back, so the real age is unknown.
    return age >= 0 && age <= MAX_AGE_MS - LEAST_REMAINING_MS ? total : undefined
  }

  forget(): void {
    this.#cached = new BoundedMap(MAX_GENERATION)
    this.#related?.forget()
  }
}
