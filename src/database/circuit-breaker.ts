import type { Database } from './database.ts'
import { classify, DatabaseFailure } from './errors.ts'

/** When to stop asking a database that does not answer, and when to try it again. */
export interface BreakerPolicy {
  /** Attempts that fail one after another, with none succeeding in between, before it opens. Slow ones count thrice. */
  failures: number
  /** Milliseconds from which on an attempt was slow to fail. */
  slowMs: number
  /** Milliseconds it stays open at first; doubled each time the trial after it fails too, and jittered. */
  openMs: number
  /** The longest it stays open, in milliseconds. */
  maxOpenMs: number
}

/** Two statements' worth of retries open it, or two timeouts; a database that comes back is noticed within seconds. */
export const DEFAULT_BREAKER: BreakerPolicy = { failures: 5, slowMs: 1_000, openMs: 250, maxOpenMs: 5_000 }

/**
 * Keeps a dead database from holding every request for its whole timeout: when statements keep failing, the next ones fail
 * at once, and one at a time is let through to see whether it is back. Plain data, so that an isolate's requests share it.
 *
 * The pattern: M. Nygard, "Release It!", "Circuit Breaker".
 */
export class CircuitBreaker {
  readonly #policy: BreakerPolicy
  #failures = 0
  #openMs: number
  #openUntil = 0
  /** Whether the one that was let through has not come back yet. */
  #trial = false

  constructor(policy: BreakerPolicy = DEFAULT_BREAKER) {
    this.#policy = policy
    this.#openMs = policy.openMs
  }

  /** Whether statements are failing at once, apart from trials. */
  get open(): boolean {
    return this.#failures >= this.#policy.failures
  }

  /**
   * Whether a statement may be sent now. While open, the one that is told so is the trial, and until its outcome is known
   * (or as long again has passed, should it never be) no other is.
   */
  admit(now: number): boolean {
    if (!this.open) return true
    // The clock may have been set back, by more than a breaker is ever open.
    const wait = this.#openUntil - now
    if (wait > 0 && wait <= this.#policy.maxOpenMs) return false
    this.#openUntil = now + this.#policy.maxOpenMs
    this.#trial = true
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#trial = false
    this.#openMs = this.#policy.openMs
  }

  /** @param tookMs how long it took to fail, in milliseconds */
  failed(now: number, tookMs: number): void {
    const wasOpen = this.open
    this.#failures += tookMs >= this.#policy.slowMs ? 3 : 1
    if (!this.open) return
    // Sent before it opened: that it failed as well says nothing new.
    if (wasOpen && !this.#trial) return
    this.#trial = false
    // Between half and the whole time, so that isolates do not all come back in the same instant.
    this.#openUntil = now + this.#openMs * (0.5 + Math.random() / 2)
    this.#openMs = Math.min(this.#openMs * 2, this.#policy.maxOpenMs)
  }
}

/**
 * A database that is not asked while its breaker is open. Statements then fail at once, certain not to have been applied.
 * Transactions are passed through as they are.
 */
export function withBreaker(database: Database, breaker: CircuitBreaker): Database {
  return {
    transaction: (work) => database.transaction(work),
    async execute(sql, args) {
      if (!breaker.admit(Date.now())) {
        throw new DatabaseFailure(
          { kind: 'unavailable', retry: false, applied: 'no' },
          new Error('the database keeps failing and was not asked this time'),
        )
      }
      const began = Date.now()
      try {
        const result = await database.execute(sql, args)
        breaker.succeeded()
        return result
      } catch (error) {
        const failure = classify(error)
        // Every other failure is an answer: the database is there.
        if (failure.kind === 'unavailable') breaker.failed(Date.now(), Date.now() - began)
        else breaker.succeeded()
        throw failure
      }
    },
  }
}
