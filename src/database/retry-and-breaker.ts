import { type Database, type Executor, FIRST_SELECT } from './database.ts'
import { classify, DatabaseFailure } from './errors.ts'

/** Enough for a failover's hiccup, and an answer within seconds when the database is gone. */
const MAX_ATTEMPTS = 3
/** The longest pause before the second attempt; doubled for each further one, and jittered. */
const BACKOFF_MS = 50
/** After the first attempt began. No further one begins then. */
const GIVE_UP_AFTER_MS = 3_000

/**
 * Retries statements after transient failures. They must be safe to repeat, as reads, INSERT IGNORE and batches are. If any attempt
 * had an unknown outcome, a failure of the whole has one too, and a success says that the attempt may still arrive (`straggler`).
 */
export function retrying(db: Executor, beforeAttempt?: () => void): Executor {
  return {
    async execute(sql, args) {
      const began = Date.now()
      let unknown = false
      for (let attempt = 1; ; attempt++) {
        beforeAttempt?.()
        try {
          const result = await db.execute(sql, args)
          return unknown ? { ...result, straggler: true } : result
        } catch (error) {
          const failure = classify(error)
          unknown ||= failure.applied === 'unknown'
          // Full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
          const pause = Math.random() * BACKOFF_MS * 2 ** (attempt - 1)
          const late = Date.now() + pause - began > GIVE_UP_AFTER_MS
          if (!failure.retry || attempt === MAX_ATTEMPTS || late) {
            throw unknown ? failure.withApplied('unknown') : failure
          }
          await new Promise((resolve) => setTimeout(resolve, pause))
        }
      }
    },
  }
}

/** A database whose single statements are retried. Its transactions are passed through. */
export function withRetries(database: Database): Database {
  const { ranges } = database
  return { ranges, transaction: (work) => database.transaction(work), ...retrying(database) }
}

/** Consecutive failures that open the breaker: the retries of two statements, or two time-outs. A slow one counts three times. */
const MAX_FAILURES = 5
const SLOW_MS = 1_000
/** The first open period. It doubles each time a trial fails, and is jittered. A recovered database is noticed within seconds. */
const OPEN_MS = 250
const MAX_OPEN_MS = 5_000

/**
 * Keeps an unavailable database from delaying every request: when statements keep failing, further ones fail at once, except one trial
 * at a time (M. Nygard, "Release It!", "Circuit Breaker"). Plain data, shared by an isolate's requests.
 */
export class CircuitBreaker {
  /** Whether statements other than trials fail at once. Only `succeeded` and `failed` change it. */
  open = false
  /** Whether the last statement that writes failed. Reads may succeed nevertheless, as on a full disk. */
  writeFailed = false
  #failures = 0
  #openMs = OPEN_MS
  #openUntil = 0
  #trial = false

  /** Whether any statement fails at once: no trial is due. */
  refuses(now: number): boolean {
    // A longer wait means that the clock was set back.
    const wait = this.#openUntil - now
    return this.open && wait > 0 && wait <= MAX_OPEN_MS
  }

  /** Whether a statement may be sent. While the breaker is open: one trial, until its outcome is known or `MAX_OPEN_MS` have passed. */
  admit(now: number): boolean {
    if (!this.open) return true
    if (this.refuses(now)) return false
    this.#openUntil = now + MAX_OPEN_MS
    this.#trial = true
    return true
  }

  succeeded(): void {
    this.open = false
    this.#failures = 0
    this.#trial = false
    this.#openMs = OPEN_MS
  }

  /** @param tookMs the duration of the failed attempt, in milliseconds */
  failed(now: number, tookMs: number): void {
    const wasOpen = this.open
    this.#failures += tookMs >= SLOW_MS ? 3 : 1
    this.open = this.#failures >= MAX_FAILURES
    // Of a statement that was sent before the breaker opened, a failure is nothing new.
    if (!this.open || (wasOpen && !this.#trial)) return
    this.#trial = false
    // Between half the period and all of it, so that isolates do not all try again at once.
    this.#openUntil = now + this.#openMs * (0.5 + Math.random() / 2)
    this.#openMs = Math.min(this.#openMs * 2, MAX_OPEN_MS)
  }
}

/** The message of statements that an open breaker refuses. */
export const BREAKER_OPEN = 'the database keeps failing, so the statement was not sent'

/** Puts a breaker in front of statements, not transactions. While it is open, they fail at once and are not applied. */
export function withBreaker(database: Database, breaker: CircuitBreaker): Database {
  return {
    ranges: database.ranges,
    transaction: (work) => database.transaction(work),
    async execute(sql, args) {
      const began = Date.now()
      if (!breaker.admit(began)) throw DatabaseFailure.notSent(BREAKER_OPEN)
      const writes = !FIRST_SELECT.test(sql)
      try {
        const result = await database.execute(sql, args)
        breaker.succeeded()
        if (writes) breaker.writeFailed = false
        return result
      } catch (error) {
        const failure = classify(error)
        // What is out of range is the client's.
        if (writes) breaker.writeFailed = failure.kind !== 'range'
        // Any other failure is a response, so the database is available.
        if (failure.kind === 'unavailable') breaker.failed(Date.now(), Date.now() - began)
        else breaker.succeeded()
        throw failure
      }
    },
  }
}
