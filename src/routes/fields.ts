import type { Context } from 'hono'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { databaseProblem } from '../database-problem.ts'
import { Problem } from '../problem.ts'

/** The name of a counter type. */
export const typeField = z.string({ error: 'must be the name of a counter type' })

/** A key; types with integer keys also take it as a JSON number, as far as that is exact. */
export const keyField = z.union([z.string(), z.int()], {
  error: 'must be a string (or, for integer keys below 2^53, a whole number)',
})

const BY_RULE = `must be a whole number between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`

/** What to add: any integer that JSON numbers carry exactly. */
export const byField = z.int({ error: BY_RULE })

/** Answers a body over the limit. */
export function bodyTooLarge(maxBytes: number): (c: Context<AppEnv>) => Response {
  return (c) => new Problem('body_too_large', { detail: `The body may have at most ${maxBytes} bytes.` }).toResponse(c)
}

/**
 * Turns a failure to count into what is true for the client: nothing was counted, or nobody knows.
 *
 * @throws {Problem}
 */
export function countingProblem(error: unknown): never {
  if (!(error instanceof DatabaseFailure) || error.applied === 'no') throw error
  const { headers } = databaseProblem(error).details
  throw new Problem('outcome_unknown', {
    detail:
      'It may or may not have been counted. Send it again with the same Idempotency-Key to count it exactly once.',
    ...(headers && { headers }),
    cause: error,
  })
}
