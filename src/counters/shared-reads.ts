import type { Executor } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { retrying } from '../database/retry.ts'
import { type Counter, counterId } from './counter.ts'
import { Overloaded } from './overloaded.ts'
import { MAX_READ, type Reading, readCounters } from './read.ts'

/** Queries in flight at once. */
const MAX_FLIGHTS = 6
/** Milliseconds from one query to the next while one is in flight: a few more requests share it. */
const PACE_MS = 5
/** Most requests, and counters for them, that may wait in one isolate, which has 128 MB for everything. */
const MAX_WAITING = 8_192
const MAX_WAITING_COUNTERS = 20_000
/** Milliseconds for which a request waits for others' queries. Its own may take as long as retries do. */
const MAX_WAIT_MS = 8_000
/** Milliseconds after which nobody can be waiting for a group any more. */
const MAX_LIFE_MS = 20_000
/** Milliseconds without a sign of life after which a query is taken for dead, beyond the deadline of its statement. */
const SILENCE_MS = 500
/** Milliseconds between two looks at a query that is overdue. */
const MAX_PATIENCE_MS = 100

/** What a query found, or why it found nothing. */
type Outcome = { readings: ReadonlyMap<string, Reading>; tookMs: number } | { failure: DatabaseFailure }

/** Requests that are answered by one query. Plain data: it belongs to none of them. */
interface ReadGroup {
  since: number
  requests: number
  counters: Map<string, Counter>
  /** Whether it was sent: nobody joins it any more, because what was counted since would be missing. */
  sent: boolean
  /** Until when whoever sent it has given a sign of life. */
  aliveUntil: number
  expectedAt: number
  outcome: Outcome | null
}

/** What a request is told. */
export interface SharedReading {
  readings: Reading[]
  /** Whether other requests were answered by the same query. */
  shared: boolean
  /** Milliseconds that the query took. */
  tookMs: number
}

/**
 * Answers the reads of an isolate's requests by few queries. A read must see everything that was acknowledged before it began,
 * so it never uses a query that was sent before it came: what arrives while queries are in flight is merged, whatever
 * counters it asks for, and goes with the next one. An idle isolate asks at once.
 *
 * Like `GroupCommit`, it is plain data, with requests that wait on timers of their own. Unlike there, nobody works for others
 * alone: whoever finds its group unsent sends it, once, because it needs the answer itself. If its sender falls silent,
 * another request of the group sends it again, which for a query is always safe.
 */
export class SharedReads {
  readonly #db: Executor
  readonly #deadlineMs: number
  readonly #consistency: 'exact' | 'rolled'
  /** Groups without an outcome, oldest first. */
  readonly #groups = new Set<ReadGroup>()
  #open: ReadGroup | null = null
  #lastSentAt = 0
  /** How long a query takes, in milliseconds: a moving average. */
  #queryMs = 4

  /**
   * @param db makes one attempt at each statement
   * @param deadlineMs milliseconds that an attempt may take
   */
  constructor(db: Executor, { deadlineMs, consistency }: { deadlineMs: number; consistency: 'exact' | 'rolled' }) {
    this.#db = db
    this.#deadlineMs = deadlineMs
    this.#consistency = consistency
  }

  /** Requests that wait, those that sent a query included, and queries in flight. */
  get load(): { waiting: number; queries: number } {
    let waiting = 0
    for (const { requests } of this.#groups) waiting += requests
    return { waiting, queries: this.#flights(Date.now()).length }
  }

  /**
   * Reads counters, in the order given, as they are at some instant after the call.
   *
   * @param counters at most `MAX_READ`, of any types
   * @param waitUntil keeps a query going for the others when the client of the request that sent it hangs up
   * @throws {DatabaseFailure}
   * @throws {Overloaded} if too much is waiting
   */
  async read(counters: readonly Counter[], waitUntil: (work: Promise<unknown>) => void): Promise<SharedReading> {
    let since = Date.now()
    const group = this.#join(counters, since)
    const first = group.requests === 1
    while (group.outcome === null) {
      const now = Date.now()
      // The clock was set back: its own time begins anew.
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
    const { outcome, requests } = group
    if ('failure' in outcome) throw outcome.failure
    const readings = counters.map((counter) => outcome.readings.get(counterId(counter))!)
    return { readings, shared: requests > 1, tookMs: outcome.tookMs }
  }

  #join(counters: readonly Counter[], now: number): ReadGroup {
    let waiting = 0
    let waitingCounters = 0
    for (const group of this.#groups) {
      // All of its requests are gone, cut off with their clients.
      if (now - group.since > MAX_LIFE_MS || now < group.since - MAX_LIFE_MS) this.#forget(group)
      waiting += group.requests
      waitingCounters += group.counters.size
    }
    if (waiting >= MAX_WAITING || waitingCounters >= MAX_WAITING_COUNTERS) throw new Overloaded()
    let group = this.#open
    if (group === null || group.counters.size + counters.length > MAX_READ) {
      const expectedAt = now + PACE_MS + this.#queryMs
      group = { since: now, requests: 0, counters: new Map(), sent: false, aliveUntil: 0, expectedAt, outcome: null }
      this.#groups.add(group)
      // One that is full is sent by those who wait for it.
      this.#open = group
    }
    group.requests++
    for (const counter of counters) group.counters.set(counterId(counter), counter)
    return group
  }

  #forget(group: ReadGroup): void {
    this.#groups.delete(group)
    if (this.#open === group) this.#open = null
  }

  /** Groups that were sent, and not by somebody who has died since. */
  #flights(now: number): ReadGroup[] {
    return [...this.#groups].filter((group) => group.sent && !this.#silent(group, now))
  }

  #silent({ aliveUntil }: ReadGroup, now: number): boolean {
    // If it announced more than anybody does, the clock was set back.
    return aliveUntil < now || aliveUntil - now > this.#deadlineMs + SILENCE_MS
  }

  #maySend(group: ReadGroup, now: number): boolean {
    if (group.sent) return this.#silent(group, now)
    return this.#mayBeginAt(now) <= now
  }

  /** When another query may begin, as far as is known. */
  #mayBeginAt(now: number): number {
    const flights = this.#flights(now)
    if (flights.length === 0) return now
    const freed = Math.min(...flights.map(({ expectedAt }) => expectedAt))
    // Overdue: it may be over any moment.
    const over = freed > now ? freed : now + Math.min(Math.max(1, (now - freed) / 4), MAX_PATIENCE_MS)
    if (flights.length >= MAX_FLIGHTS) return over
    const early = this.#lastSentAt + PACE_MS
    return early - now > PACE_MS ? now : Math.min(early, over)
  }

  /** How long to wait before looking again. The first request of a group sees to its being sent, the others to its answer. */
  #patience(group: ReadGroup, first: boolean, now: number): number {
    if (!group.sent && first) return Math.max(1, Math.ceil(this.#mayBeginAt(now) - now))
    const left = group.expectedAt - now
    return Math.min(left > 0 ? Math.ceil(left) : Math.max(1, -left / 4), MAX_PATIENCE_MS)
  }

  /** Sends a group's query. Never rejects. */
  async #send(group: ReadGroup, now: number): Promise<void> {
    // Closed before anything is sent: what comes from now on might not be seen.
    if (this.#open === group) this.#open = null
    group.sent = true
    group.expectedAt = now + this.#queryMs
    this.#lastSentAt = now
    const counters = [...group.counters.values()]
    const attempts: Executor = {
      execute: (sql, args) => {
        group.aliveUntil = Date.now() + this.#deadlineMs + SILENCE_MS
        return this.#db.execute(sql, args)
      },
    }
    let outcome: Outcome
    try {
      const found = await readCounters(retrying(attempts), counters, this.#consistency)
      const tookMs = Math.max(0, Date.now() - now)
      this.#queryMs += (Math.min(tookMs, this.#deadlineMs) - this.#queryMs) / 8
      const readings = new Map(counters.map((counter, index) => [counterId(counter), found[index]!]))
      outcome = { readings, tookMs }
    } catch (error) {
      const failure = error instanceof DatabaseFailure ? error : DatabaseFailure.unexpected(error)
      outcome = { failure }
    }
    // Whoever sent it again may have been faster.
    group.outcome ??= outcome
    this.#forget(group)
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
