import type { Database, Executor } from './database.ts'
import { classify, DatabaseFailure } from './errors.ts'

export interface RetryPolicy {
  attempts: number
  /** Milliseconds before the second attempt; doubled for each further one, and jittered. */
  backoffMs: number
  /** Milliseconds after the first attempt began from which on no further one begins. */
  giveUpAfterMs: number
}

/** Enough for a failover's hiccup, and an answer within seconds when the database is gone. */
export const DEFAULT_RETRIES: RetryPolicy = { attempts: 3, backoffMs: 50, giveUpAfterMs: 3_000 }

/**
 * Retries statements after transient failures. Only for statements that are safe to repeat. All of ours are: reads, INSERT
 * IGNORE, and batches, which recognize themselves. If any attempt had an unknown outcome, a failure of the whole has one too,
 * and a success says that the attempt may still arrive (`straggler`).
 */
export function retrying(
  db: Executor,
  { policy = DEFAULT_RETRIES, beforeAttempt }: { policy?: RetryPolicy; beforeAttempt?: () => void } = {},
): Executor {
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
          const pause = Math.random() * policy.backoffMs * 2 ** (attempt - 1)
          const late = Date.now() + pause - began > policy.giveUpAfterMs
          if (!failure.retry || attempt >= policy.attempts || late) {
            throw unknown ? failure.withApplied('unknown') : failure
          }
          await new Promise((resolve) => setTimeout(resolve, pause))
        }
      }
    },
  }
}

/** A database whose single statements are retried. Its transactions are passed through. */
export function withRetries(database: Database, policy: RetryPolicy = DEFAULT_RETRIES): Database {
  const { ranges } = database
  return { ranges, transaction: (work) => database.transaction(work), ...retrying(database, { policy }) }
}

export interface BreakerPolicy {
  /** Consecutive failures that open the breaker. A slow failure counts three times. */
  failures: number
  /** Milliseconds from which on a failure is slow. */
  slowMs: number
  /** The first open period, in milliseconds. It doubles each time a trial fails, and is jittered. */
  openMs: number
  maxOpenMs: number
}

/** The retries of two statements open it, or two time-outs. A recovered database is noticed within seconds. */
const DEFAULT_BREAKER: BreakerPolicy = { failures: 5, slowMs: 1_000, openMs: 250, maxOpenMs: 5_000 }

/**
 * Keeps an unavailable database from delaying every request by a time-out: when statements keep failing, further ones fail at
 * once, except one at a time as a trial. Plain data, so that the requests of an isolate can share it. The pattern: M. Nygard,
 * "Release It!", "Circuit Breaker".
 */
export class CircuitBreaker {
  readonly #policy: BreakerPolicy
  /** Whether statements other than trials fail at once. Only `succeeded` and `failed` change it. */
  open = false
  #failures = 0
  #openMs: number
  #openUntil = 0
  #trial = false

  constructor(policy: BreakerPolicy = DEFAULT_BREAKER) {
    this.#policy = policy
    this.#openMs = policy.openMs
  }

  /**
   * Whether a statement may be sent now. While the breaker is open, an admitted statement is the trial. No other one is
   * admitted until its outcome is known, or until the longest open period has passed in case it never is.
   */
  admit(now: number): boolean {
    if (!this.open) return true
    // A longer wait means that the clock was set back.
    const wait = this.#openUntil - now
    if (wait > 0 && wait <= this.#policy.maxOpenMs) return false
    this.#openUntil = now + this.#policy.maxOpenMs
    this.#trial = true
    return true
  }

  succeeded(): void {
    this.open = false
    this.#failures = 0
    this.#trial = false
    this.#openMs = this.#policy.openMs
  }

  /** @param tookMs the duration of the failed attempt, in milliseconds */
  failed(now: number, tookMs: number): void {
    const wasOpen = this.open
    this.#failures += tookMs >= this.#policy.slowMs ? 3 : 1
    this.open = this.#failures >= this.#policy.failures
    if (!this.open) return
    // Sent before the breaker opened, so its failure is nothing new.
    if (wasOpen && !this.#trial) return
    this.#trial = false
    // Between half the period and all of it, so that isolates do not all try again at once.
    this.#openUntil = now + this.#openMs * (0.5 + Math.random() / 2)
    this.#openMs = Math.min(this.#openMs * 2, this.#policy.maxOpenMs)
  }
}

/** Puts a breaker in front of statements, not transactions. While it is open, they fail at once and are not applied. */
export function withBreaker(database: Database, breaker: CircuitBreaker): Database {
  return {
    ranges: database.ranges,
    transaction: (work) => database.transaction(work),
    async execute(sql, args) {
      if (!breaker.admit(Date.now())) {
        throw new DatabaseFailure(
          { kind: 'unavailable', retry: false, applied: 'no' },
          new Error('the database keeps failing, so the statement was not sent'),
        )
      }
      const began = Date.now()
      try {
        const result = await database.execute(sql, args)
        breaker.succeeded()
        return result
      } catch (error) {
        const failure = classify(error)
        // Any other failure is a response, so the database is available.
        if (failure.kind === 'unavailable') breaker.failed(Date.now(), Date.now() - began)
        else breaker.succeeded()
        throw failure
      }
    },
  }
}
