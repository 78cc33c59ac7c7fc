import { BoundedMap } from '../../bounded-map.ts'
import type { Executor } from '../../database/database.ts'
import { DatabaseFailure } from '../../database/errors.ts'
import { retrying } from '../../database/retry-and-breaker.ts'
import { type CounterAddress, counterId } from '../keys/counter-address.ts'
import { rowsByRange } from '../ranges.ts'
import { pause, SharedWork } from '../shared-work-state.ts'

const MAX_FLIGHTS = 6
/** Milliseconds between queries while one is in flight, so that a few more requests share the next one. */
const PACE_MS = 5
/** How long a request waits for the queries of others. Its own may take as long as its retries do. */
const MAX_WAIT_MS = 8_000
/** After this, no request can be waiting for a group. */
const MAX_LIFE_MS = 20_000
const MAX_PATIENCE_MS = 100

type ReadOutcome<Value> = { values: ReadonlyMap<string, Value> } | { failure: DatabaseFailure }

/** Requests that share one query. Plain data that belongs to none of them. */
interface ReadGroup<Value> {
  since: number
  requests: number
  counters: Map<string, CounterAddress>
  /** Then no request joins: the query may miss what was counted since. */
  sent: boolean
  /** Until when its sender may be silent. */
  silentUntil: number
  expectedAt: number
  outcome: ReadOutcome<Value> | null
}

interface SharedReadsOptions<Value> {
  /** The time-out of one attempt at a statement. */
  deadlineMs: number
  maxCounters: number
  /** Reads distinct counters in one statement; values in their order. */
  read: (db: Executor, counters: readonly CounterAddress[]) => Promise<Value[]>
}

/**
 * Answers the reads of an isolate's requests with few queries. A read must see everything that was acknowledged before it
 * began, so it never uses a query that was sent before it arrived. Reads that arrive while queries are in flight are merged
 * into the next one, whatever counters they ask for. An idle isolate queries at once. It follows the rules of `SharedWork`, as
 * `GroupCommit` does. But no request works for others only: each sends the query of its own group. If it falls silent, another
 * request of the group sends the query again, which is always safe.
 */
export class SharedReads<Value> {
  readonly #db: Executor
  readonly #options: SharedReadsOptions<Value>
  readonly #work: SharedWork
  /** Groups without an outcome, oldest first. */
  readonly #groups = new Set<ReadGroup<Value>>()
  #open: ReadGroup<Value> | null = null
  #lastSentAt = 0

  /** @param db makes one attempt at each statement */
  constructor(db: Executor, options: SharedReadsOptions<Value>) {
    this.#db = db
    this.#options = options
    this.#work = new SharedWork(options.deadlineMs)
  }

  /** Requests that wait, senders included, and queries in flight. */
  get load() {
    return { waiting: this.#work.waiting, queries: this.#flights(Date.now()).length }
  }

  /**
   * Reads counters, in the order given, as they are at an instant after the call.
   * @param counters at most `maxCounters`, of any types
   * @param waitUntil keeps a query going for other requests if the client of its sender hangs up
   * @throws {Overloaded} if too many requests wait
   */
  async read(counters: readonly CounterAddress[], waitUntil: (work: Promise<unknown>) => void): Promise<Value[]> {
    let since = Date.now()
    const group = this.#join(counters, since)
    const first = group.requests === 1
    while (group.outcome === null) {
      const now = Date.now()
      // If the clock was set back, the wait starts over.
      since = Math.min(since, now)
      if (this.#maySend(group, now)) {
        const query = this.#send(group, now)
        waitUntil(query)
        await query
      } else if (now - since > MAX_WAIT_MS) {
        throw new DatabaseFailure(
          { kind: 'unavailable', retry: false, applied: 'no' },
          new Error('no query that this read could share was answered in time'),
        )
      } else {
        await pause(this.#patience(group, first, now))
      }
    }
    const { outcome } = group
    if ('failure' in outcome) throw outcome.failure
    return counters.map((counter) => outcome.values.get(counterId(counter))!)
  }

  #join(counters: readonly CounterAddress[], now: number): ReadGroup<Value> {
    for (const group of this.#groups) {
      // All of its requests have ended with their clients.
      if (now - group.since > MAX_LIFE_MS || now < group.since - MAX_LIFE_MS) this.#forget(group)
    }
    this.#work.admit(counters.length)
    let group = this.#open
    if (group === null || group.counters.size + counters.length > this.#options.maxCounters) {
      const expectedAt = now + PACE_MS + this.#work.durationMs
      group = { since: now, requests: 0, counters: new Map(), sent: false, silentUntil: 0, expectedAt, outcome: null }
      this.#groups.add(group)
      this.#open = group
    }
    const before = group.counters.size
    group.requests++
    for (const counter of counters) group.counters.set(counterId(counter), counter)
    this.#work.enter(1, group.counters.size - before)
    return group
  }

  #forget(group: ReadGroup<Value>): void {
    if (this.#groups.delete(group)) this.#work.enter(-group.requests, -group.counters.size)
    if (this.#open === group) this.#open = null
  }

  /** Groups whose sender is alive. */
  #flights(now: number): ReadGroup<Value>[] {
    return [...this.#groups].filter((group) => group.sent && !this.#work.isDead(group.silentUntil, now))
  }

  #maySend(group: ReadGroup<Value>, now: number): boolean {
    if (group.sent) return this.#work.isDead(group.silentUntil, now)
    return this.#mayBeginAt(now) <= now
  }

  /** When another query may begin, as far as is known. */
  #mayBeginAt(now: number): number {
    const flights = this.#flights(now)
    if (flights.length === 0) return now
    const freed = Math.min(...flights.map(({ expectedAt }) => expectedAt))
    // An overdue query may end at any moment.
    const over = freed > now ? freed : now + this.#work.patience(freed, now, MAX_PATIENCE_MS)
    if (flights.length >= MAX_FLIGHTS) return over
    const early = this.#lastSentAt + PACE_MS
    return early - now > PACE_MS ? now : Math.min(early, over)
  }

  /** Milliseconds to the next poll: the first request of a group waits until it may send, others for the answer. */
  #patience(group: ReadGroup<Value>, first: boolean, now: number): number {
    if (!group.sent && first) return Math.max(1, Math.ceil(this.#mayBeginAt(now) - now))
    return this.#work.patience(group.expectedAt, now, MAX_PATIENCE_MS)
  }

  /** Never rejects. */
  async #send(group: ReadGroup<Value>, now: number): Promise<void> {
    // Closed before the query is sent, which may miss what later requests must see.
    if (this.#open === group) this.#open = null
    group.sent = true
    group.expectedAt = now + this.#work.durationMs
    this.#lastSentAt = now
    const counters = [...group.counters.values()]
    const { deadlineMs, read } = this.#options
    const db = retrying(this.#db, () => {
      group.silentUntil = Date.now() + deadlineMs
    })
    let outcome: ReadOutcome<Value>
    try {
      const found = await read(db, counters)
      this.#work.took(Math.max(0, Date.now() - now))
      outcome = { values: new Map(counters.map((counter, index) => [counterId(counter), found[index]!])) }
    } catch (error) {
      outcome = { failure: error instanceof DatabaseFailure ? error : DatabaseFailure.unexpected(error) }
    }
    // A request that sent it again may have been faster.
    group.outcome ??= outcome
    this.#forget(group)
  }
}

/** The load of several readers together. */
export function loadOf(reads: readonly Pick<SharedReads<unknown>, 'load'>[]) {
  return reads.reduce(
    (sum, { load }) => ({ waiting: sum.waiting + load.waiting, queries: sum.queries + load.queries }),
    { waiting: 0, queries: 0 },
  )
}

/** Reads counters of several ranges: one `SharedReads` for each, so that every query goes to one shard. */
export class ReadsByRange<Value> {
  readonly #reads: readonly SharedReads<Value>[]

  constructor(reads: readonly SharedReads<Value>[]) {
    this.#reads = reads
  }

  /** Requests count once for each range. */
  get load() {
    return loadOf(this.#reads)
  }

  async read(counters: readonly CounterAddress[], waitUntil: (work: Promise<unknown>) => void): Promise<Value[]> {
    const parts = [...rowsByRange(counters, this.#reads.length)]
    const [first] = parts
    if (parts.length === 1) return this.#reads[first![0]]!.read(counters, waitUntil)
    const readings = await Promise.all(parts.map(([range, part]) => this.#reads[range]!.read(part, waitUntil)))
    const values = new Map<string, Value>()
    for (const [index, [, part]] of parts.entries()) {
      for (const [place, counter] of part.entries()) values.set(counterId(counter), readings[index]![place]!)
    }
    return counters.map((counter) => values.get(counterId(counter))!)
  }
}

/** Totals in one generation of a cache; it holds two. */
const MAX_CACHED = 5_000

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
export class RolledCache<Value> {
  readonly #reads: Pick<SharedReads<Value>, 'read'>
  readonly #related: { forget(): void } | null
  #cached = new BoundedMap<CachedTotal<Value>>(MAX_CACHED)

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
  ): Promise<{ values: Value[]; ageMs: number }> {
    const now = Date.now()
    const cached = counters.map((counter) => (fresh ? undefined : this.#recall(counter, now)))
    const missing = counters.filter((_, index) => cached[index] === undefined)
    // `forget` replaces the map. Totals that are being read then go into the old one.
    const target = this.#cached
    const found = missing.length === 0 ? [] : await this.#reads.read(missing, waitUntil)
    // A total that was read just now is as old as the query took.
    const read = found.map((reading) => ({ reading, readAt: now }))
    for (const [index, counter] of missing.entries()) target.set(counterId(counter), read[index]!)
    const then = Date.now()
    const totals = cached.map((total) => total ?? read.shift()!)
    const ageMs = totals.reduce((oldest, { readAt }) => Math.max(oldest, then - readAt), 0)
    return { values: totals.map(({ reading }) => reading), ageMs }
  }

  #recall(counter: CounterAddress, now: number): CachedTotal<Value> | undefined {
    const total = this.#cached.get(counterId(counter))
    if (total === undefined) return undefined
    const age = now - total.readAt
    // A negative age means that the clock was set back, so the real age is unknown.
    return age >= 0 && age <= MAX_AGE_MS - LEAST_REMAINING_MS ? total : undefined
  }

  forget(): void {
    this.#cached = new BoundedMap(MAX_CACHED)
    this.#related?.forget()
  }
}
