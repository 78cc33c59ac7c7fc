import type { Database, Executor } from './database.ts'
import { classify } from './errors.ts'

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
