import type { Context } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { hash64 } from '../counters/hash.ts'
import { MAX_IDEMPOTENCY_KEY } from '../openapi/headers.ts'
import { invalidRequest } from '../request.ts'

/** What to do when nobody knows whether something was counted. */
export const SEND_AGAIN = 'Send it again with the same Idempotency-Key to count it exactly once.'

// Counting, setting and importing are told apart by their keys: the same one may stand for one of each.
const BEGINNINGS = { count: 'idempotency-key', set: 'set idempotency-key', import: 'import idempotency-key' } as const

/**
 * What the request's `Idempotency-Key` stands for, if it has one (draft-ietf-httpapi-idempotency-key-header): the slot and
 * batch of everything it counts, or the id of the adjustments it makes.
 *
 * @throws {Problem} 422
 */
export async function idempotencyKey(
  c: Context<AppEnv>,
  purpose: keyof typeof BEGINNINGS,
): Promise<bigint | undefined> {
  const key = c.req.header('Idempotency-Key')
  if (key !== undefined && (key === '' || key.length > MAX_IDEMPOTENCY_KEY)) {
    throw invalid(`must have 1 to ${MAX_IDEMPOTENCY_KEY} characters`)
  }
  return key === undefined ? undefined : hash64(`${BEGINNINGS[purpose]} ${key}`)
}

/**
 * The same where the request is not taken without one.
 *
 * @throws {Problem} 422
 */
export async function neededIdempotencyKey(c: Context<AppEnv>, purpose: keyof typeof BEGINNINGS): Promise<bigint> {
  const key = await idempotencyKey(c, purpose)
  if (key !== undefined) return key
  throw invalid('is needed: a header with a text of its own for each request, so that sending it again changes nothing')
}

function invalid(message: string) {
  return invalidRequest([{ field: 'Idempotency-Key', message }])
}
