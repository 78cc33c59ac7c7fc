import type { Executor } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { retrying } from '../database/retry-and-breaker.ts'
import { type CounterAddress, counterId } from './counter-address.ts'
import { rangeOf, rowsByRange } from './ranges.ts'
import { pause, SharedWork, type WaitUntil } from './shared-work-state.ts'

const MAX_FLIGHTS = 6
/** Milliseconds between queries while one is in flight, so that a few more requests share the next one. */
const PACE_MS = 5
/** How long a request waits for the queries of others. Its own may take as long as its retries do. */
const MAX_WAIT_MS = 8_000
/** After this, no request can be waiting for a group. */
const MAX_LIFE_MS = 20_000
const MAX_PATIENCE_MS = 100

/** Requests that share one query. Plain data that belongs to none of them. */
interface ReadGroup<Value> {
  since: number
  requests: number
  counters: Map<string, CounterAddress>
  /** Then no request joins: the query may miss what was counted since. */
  sent: boolean
  silentUntil: number
  expectedAt: number
  outcome: ReadonlyMap<string, Value> | DatabaseFailure | null
}

interface SharedReadsOptions<Value> {
  /** The time-out of one attempt at a statement. */
  deadlineMs: number
  maxCounters: number
  /** Reads distinct counters of one range; values in their order. */
  read: (db: Executor, counters: readonly CounterAddress[]) => Promise<readonly Value[]>
}

/**
 * Answers the reads of an isolate's requests with few queries, each of one range, and so of one shard. A read must see what was
 * acknowledged before it began, so it never uses a query sent before. Reads that arrive while queries are in flight share the next one.
 */
export class SharedReads<Value> {
  readonly ranges: readonly RangeReads<Value>[]

  /** @param dbs one for each range; they make one attempt at each statement */
  constructor(dbs: readonly Executor[], options: SharedReadsOptions<Value>) {
    this.ranges = dbs.map((db) => new RangeReads(db, options))
  }

  /** Reads counters of any types, in the order given, as they are at an instant after the call. @throws {Overloaded} */
  async read(counters: readonly CounterAddress[], waitUntil: WaitUntil): Promise<Value[]> {
    const ranges = this.ranges.length
    const reading = [...rowsByRange(counters, ranges)].map(
      async ([range, part]) => [range, await this.ranges[range]!.read(part, waitUntil)] as const,
    )
    const found = new Map(await Promise.all(reading))
    return counters.map((counter) => found.get(rangeOf(counter.recordId, ranges))!.get(counterId(counter))!)
  }
}

/** The reads of one range (`SharedWork`). A request sends only the query of its own group, again if the sender falls silent. */
class RangeReads<Value> {
  readonly #db: Executor
  readonly #options: SharedReadsOptions<Value>
  readonly work: SharedWork
  /** Groups without an outcome, oldest first. */
  readonly #groups = new Set<ReadGroup<Value>>()
  #open: ReadGroup<Value> | null = null
  #lastSentAt = 0

  constructor(db: Executor, options: SharedReadsOptions<Value>) {
    this.#db = db
    this.#options = options
    this.work = new SharedWork(options.deadlineMs)
  }

  /** The values of counters, and perhaps of others. */
  async read(counters: readonly CounterAddress[], waitUntil: WaitUntil): Promise<ReadonlyMap<string, Value>> {
    let since = Date.now()
    const group = this.#join(counters, since)
    const isFirst = group.requests === 1
    while (group.outcome === null) {
      const now = Date.now()
      // If the clock was set back, the wait starts over.
      since = Math.min(since, now)
      if (this.#maySend(group, now)) {
        const query = this.#send(group, now)
        waitUntil(query)
        await query
      } else if (now - since > MAX_WAIT_MS) {
        throw DatabaseFailure.notSent('no query that this read could share was answered in time')
      } else if (isFirst && !group.sent) {
        await pause(Math.max(1, Math.ceil(this.#mayBeginAt(now) - now)))
      } else {
        await pause(this.work.patience(group.expectedAt, now, MAX_PATIENCE_MS))
      }
    }
    if (group.outcome instanceof DatabaseFailure) throw group.outcome
    return group.outcome
  }

  #join(counters: readonly CounterAddress[], now: number): ReadGroup<Value> {
    for (const group of this.#groups) {
      // All of its requests have ended with their clients.
      if (now - group.since > MAX_LIFE_MS || now < group.since - MAX_LIFE_MS) this.#forget(group)
    }
    this.work.admit(counters.length)
    let group = this.#open
    if (group === null || group.counters.size + counters.length > this.#options.maxCounters) {
      const expectedAt = now + PACE_MS + this.work.durationMs
      group = { since: now, requests: 0, counters: new Map(), sent: false, silentUntil: 0, expectedAt, outcome: null }
      this.#groups.add(group)
      this.#open = group
    }
    const before = group.counters.size
    group.requests++
    for (const counter of counters) group.counters.set(counterId(counter), counter)
    this.work.enter(1, group.counters.size - before)
    return group
  }

  #forget(group: ReadGroup<Value>): void {
    if (this.#groups.delete(group)) this.work.enter(-group.requests, -group.counters.size)
    if (this.#open === group) this.#open = null
  }

  /** Groups whose sender is alive. */
  flights(now: number): ReadGroup<Value>[] {
    return [...this.#groups].filter((group) => group.sent && !this.work.isDead(group.silentUntil, now))
  }

  #maySend(group: ReadGroup<Value>, now: number): boolean {
    return group.sent ? this.work.isDead(group.silentUntil, now) : this.#mayBeginAt(now) <= now
  }

  /** When another query may begin, as far as is known. */
  #mayBeginAt(now: number): number {
    const flights = this.flights(now)
    if (flights.length === 0) return now
    const freed = Math.min(...flights.map(({ expectedAt }) => expectedAt))
    // An overdue query may end at any moment.
    const over = freed > now ? freed : now + this.work.patience(freed, now, MAX_PATIENCE_MS)
    if (flights.length >= MAX_FLIGHTS) return over
    const early = this.#lastSentAt + PACE_MS
    return early - now > PACE_MS ? now : Math.min(early, over)
  }

  /** Never rejects. */
  async #send(group: ReadGroup<Value>, now: number): Promise<void> {
    // Closed before the query is sent, which may miss what later requests must see.
    if (this.#open === group) this.#open = null
    group.sent = true
    group.expectedAt = now + this.work.durationMs
    this.#lastSentAt = now
    const counters = [...group.counters.values()]
    const { deadlineMs, read } = this.#options
    const db = retrying(this.#db, () => {
      group.silentUntil = Date.now() + deadlineMs
    })
    // If there is an outcome, a request that sent it again was faster.
    try {
      const found = await read(db, counters)
      this.work.took(Date.now() - now)
      group.outcome ??= new Map(counters.map((counter, index) => [counterId(counter), found[index]!]))
    } catch (error) {
      group.outcome ??= error instanceof DatabaseFailure ? error : DatabaseFailure.unexpected(error)
    }
    this.#forget(group)
  }
}
