import { BoundedMap } from '../../bounded-map.ts'
import type { Executor } from '../../database/database.ts'
import { retrying } from '../../database/retry-and-breaker.ts'
import { type CounterAddress, counterId } from '../counter-address.ts'
import { countRows } from '../history/rows-sql.ts'
import { sumOf } from '../history/selection.ts'
import { checkKeys, type KeysWithPrefix, MAX_PUBLIC_ROWS, ROWS_OF_KEY } from '../keys/prefix.ts'
import { SharedReads } from '../shared-reads.ts'
import type { WaitUntil } from '../shared-work-state.ts'
import { KeptAnswers } from './kept-answers.ts'
import {
  type Consistency,
  MAX_READ,
  type Reading,
  type RecentPeriod,
  readCounters,
  recentDays,
} from './read-counters.ts'
import { MAX_PENDING_OF_TYPE, MAX_PUBLIC_PENDING_OF_TYPE, readSum } from './read-sum.ts'

/** How long a total is cached, here and by clients. */
export const MAX_AGE_MS = 30_000
/** Milliseconds for which it is used: with less time left, clients could not cache it at all. */
export const CACHED_MS = MAX_AGE_MS - 1_000
/** Counters that are read together with a period, of which each has rows. */
const MAX_READ_OF_PERIOD = 50
/** Totals in one generation of the cache; it holds two. */
const MAX_CACHED = 5_000

/** `exact`: of all time, with what is pending. `rolled`: of all time, as of the last roll-up. Or of the days up to today. */
export type WhichSum = 'exact' | 'rolled' | RecentPeriod

/** What the requests of an isolate read counters with: they share queries and totals. Plain data. `waitUntil`: as for `SharedReads`. */
export class Reads {
  readonly #dbs: readonly Executor[]
  readonly #everywhere: Executor
  readonly #deadlineMs: number
  /** Queries of counters, by what they read. */
  readonly shared = new Map<string, SharedReads<Reading>>()
  #sums = new KeptAnswers()
  #totals = new BoundedMap<{ reading: Reading; readAt: number }>(MAX_CACHED)

  /** @param dbs one for each range; `everywhere` reaches all shards; both make one attempt, of at most `deadlineMs`, at each statement */
  constructor(dbs: readonly Executor[], everywhere: Executor, deadlineMs: number) {
    this.#dbs = dbs
    this.#everywhere = retrying(everywhere)
    this.#deadlineMs = deadlineMs
  }

  /** Reads at most `MAX_READ` counters, or with a period, `MAX_READ_OF_PERIOD`. */
  counters(
    asked: readonly CounterAddress[],
    consistency: Consistency,
    waitUntil: WaitUntil,
    period: RecentPeriod | null = null,
  ): Promise<Reading[]> {
    const what = `${consistency} ${period}`
    let reads = this.shared.get(what)
    if (reads === undefined) {
      reads = new SharedReads(this.#dbs, {
        deadlineMs: this.#deadlineMs,
        maxCounters: period === null ? MAX_READ : MAX_READ_OF_PERIOD,
        read: (db, counters) => readCounters(db, counters, consistency, period && recentDays(period, new Date())),
      })
      this.shared.set(what, reads)
    }
    return reads.read(asked, waitUntil)
  }

  /**
   * Reads the totals of at most `MAX_READ` counters, from the cache where they are fresh enough. It misses changes by other isolates.
   * @param fresh whether to bypass the cache @returns `ageMs`: the age of the oldest one
   */
  async totals(counters: readonly CounterAddress[], { fresh, waitUntil }: { fresh: boolean; waitUntil: WaitUntil }) {
    const now = Date.now()
    const cache = this.#totals
    const cached = counters.map((counter) => {
      const total = fresh ? undefined : cache.get(counterId(counter))
      // A negative age means that the clock was set back, so the real age is unknown.
      return total !== undefined && total.readAt <= now && now - total.readAt <= CACHED_MS ? total : undefined
    })
    const missing = counters.filter((_, place) => cached[place] === undefined)
    const found = missing.length === 0 ? [] : await this.counters(missing, 'rolled', waitUntil)
    // A total that was read just now is as old as the query took.
    const read = found.map((reading) => ({ reading, readAt: now }))
    for (const [place, counter] of missing.entries()) cache.set(counterId(counter), read[place]!)
    const totals = cached.map((total) => total ?? read.shift()!)
    const oldest = Math.min(...totals.map(({ readAt }) => readAt))
    return { readings: totals.map(({ reading }) => reading), ageMs: Math.max(0, Date.now() - oldest) }
  }

  /** Reads a sum, as `KeptAnswers` does. Without a token, it is bounded. @throws {TooManyKeys} */
  sum(
    of: KeysWithPrefix,
    which: WhichSum,
    { hasToken, keptMs, waitUntil }: { hasToken: boolean; keptMs: number; waitUntil: WaitUntil },
  ) {
    const most = hasToken ? MAX_PENDING_OF_TYPE : MAX_PUBLIC_PENDING_OF_TYPE
    const mostPending = which === 'rolled' ? 0 : most
    const read = async (): Promise<Reading> => {
      const days = which === 'exact' || which === 'rolled' ? null : recentDays(which, new Date())
      if (of.name !== '') {
        const rows = ROWS_OF_KEY + (days === null ? 1 : countRows([days], 0))
        await checkKeys(this.#everywhere, of, { rows, maxRows: hasToken ? undefined : MAX_PUBLIC_ROWS })
      }
      const history = days && { selections: [days], hoursFrom: 0 }
      const asked = { withTotal: days === null, history, mostPending }
      const { counts, total, ...sum } = await readSum(this.#everywhere, of, asked, this.#dbs.length)
      return { ...sum, total: days === null ? total : sumOf(days, counts) }
    }
    return this.#sums.answer([of.recordType, of.name, which, hasToken], { keptMs, read, waitUntil })
  }

  /** Drops totals and sums, which a roll-up or a change has changed. What is being read is not kept either. */
  forget(): void {
    this.#totals = new BoundedMap(MAX_CACHED)
    this.#sums = new KeptAnswers()
  }
}
