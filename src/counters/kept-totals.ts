import { type Counter, counterId } from './counter.ts'
import { Generations } from './generations.ts'
import type { Reading } from './read.ts'
import type { SharedReading, SharedReads } from './shared-reads.ts'

/** Counters in one generation; two of them are remembered. */
const MAX_GENERATION = 5_000

/** Milliseconds for which a total is kept, and may be kept by those to whom it is given. */
export const KEEP_MS = 30_000
/** Milliseconds that must be left of them. */
const LEAST_MS = 1_000

/** A total, and when it was asked for. */
interface Kept {
  reading: Reading
  readAt: number
}

/** Totals of several counters, the oldest of which is so old. */
export interface KeptReading extends SharedReading {
  ageMs: number
}

/**
 * Reads totals, and keeps them for a while: between two roll-ups they stay what they are. Plain data, bounded, shared by an
 * isolate's requests. A roll-up in another isolate is noticed when they are too old.
 */
export class KeptTotals {
  readonly #reads: SharedReads
  #kept = new Generations<Kept>(MAX_GENERATION)

  /** @param reads reads totals, with consistency `rolled` */
  constructor(reads: SharedReads) {
    this.#reads = reads
  }

  /**
   * Reads totals, in the order given, from what is kept where that is young enough.
   *
   * @param waitUntil as for `SharedReads.read`
   * @param fresh whether nothing that is kept will do
   * @throws {DatabaseFailure}
   * @throws {Overloaded}
   */
  async read(
    counters: readonly Counter[],
    waitUntil: (work: Promise<unknown>) => void,
    { fresh }: { fresh: boolean },
  ): Promise<KeptReading> {
    const now = Date.now()
    const kept = counters.map((counter) => (fresh ? undefined : this.#recall(counter, now)))
    const missing = counters.filter((_, index) => kept[index] === undefined)
    let found: SharedReading = { readings: [], shared: false, tookMs: 0 }
    if (missing.length > 0) {
      // What was kept until now is forgotten together with the map: what is found then goes with it.
      const generations = this.#kept
      found = await this.#reads.read(missing, waitUntil)
      for (const [index, counter] of missing.entries()) {
        generations.set(counterId(counter), { reading: found.readings[index]!, readAt: now })
      }
    }
    // What was read just now is as old as reading took.
    const then = Date.now()
    let ageMs = missing.length > 0 ? Math.max(0, then - now) : 0
    let next = 0
    const readings = kept.map((total) => {
      if (total === undefined) return found.readings[next++]!
      ageMs = Math.max(ageMs, then - total.readAt)
      return total.reading
    })
    return { ...found, readings, ageMs }
  }

  #recall(counter: Counter, now: number): Kept | undefined {
    const kept = this.#kept.get(counterId(counter))
    if (kept === undefined) return undefined
    const age = now - kept.readAt
    // Below 0 the clock was set back, and nobody knows how old it is.
    return age >= 0 && age <= KEEP_MS - LEAST_MS ? kept : undefined
  }

  /** Forgets all of them, those that are being read included: totals have changed. */
  forget(): void {
    this.#kept = new Generations(MAX_GENERATION)
  }
}
