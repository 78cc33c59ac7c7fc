import type { Database, Executor } from './database.ts'
import { classify } from './errors.ts'

/** When to try again and when to give up. */
export interface RetryPolicy {
  /** Attempts in all. */
  attempts: number
  /** Milliseconds before the second attempt; doubled for each further one, and jittered. */
  backoffMs: number
  /** Milliseconds after the first attempt began from which on no further one begins. */
  giveUpAfterMs: number
}

/** Enough for a failover's hiccup, and an answer within seconds when the database is gone. */
export const DEFAULT_RETRIES: RetryPolicy = { attempts: 3, backoffMs: 50, giveUpAfterMs: 3_000 }

/**
 * Sends statements again after a failure that may pass. Only for statements that may be repeated without harm, as all of
 * ours are: reads, INSERT IGNORE, and batches, which recognise themselves.
 *
 * If any attempt had an unknown outcome, so has the whole when it fails; when a later one succeeds, the result says that
 * the earlier one may still be on its way (`straggler`).
 */
export function retrying(db: Executor, policy: RetryPolicy = DEFAULT_RETRIES): Executor {
  return {
    async execute(sql, args) {
      const began = Date.now()
      let unknown = false
      for (let attempt = 1; ; attempt++) {
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

/** A database whose single statements are sent again after a failure that may pass; its transactions are as they were. */
export function withRetries(database: Database, policy: RetryPolicy = DEFAULT_RETRIES): Database {
  return { transaction: (work) => database.transaction(work), ...retrying(database, policy) }
}
