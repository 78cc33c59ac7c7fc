import type { Context } from 'hono'
import { hash63, hash64 } from '../counters/keys/key-hash.ts'
import { MAX_IDEMPOTENCY_KEY } from '../openapi/headers.ts'
import type { AppEnv } from './context.ts'
import { invalidRequest } from './problem.ts'

/** What a client can do if the outcome is unknown. */
export const SEND_AGAIN = 'Send it again with the same Idempotency-Key to count it exactly once.'

// Counting, setting, importing and moving have separate namespaces: the same key may be used once for each.
const BEGINNINGS = {
  count: 'idempotency-key',
  set: 'set idempotency-key',
  import: 'import idempotency-key',
  move: 'move idempotency-key',
} as const

/**
 * The hash of the request's `Idempotency-Key`, if it has one (draft-ietf-httpapi-idempotency-key-header). It becomes the slot
 * and batch id of increments, or the id of adjustments.
 *
 * @throws {Problem} 422
 */
export async function idempotencyKey(
  c: Context<AppEnv>,
  purpose: keyof typeof BEGINNINGS,
): Promise<bigint | undefined> {
  const key = c.req.header('Idempotency-Key')
  return key === undefined ? undefined : hashOfKey(key, purpose)
}

/**
 * The hash of an idempotency key.
 *
 * @throws {Problem} 422
 */
export async function hashOfKey(key: string, purpose: keyof typeof BEGINNINGS): Promise<bigint> {
  if (typeof key !== 'string' || key === '' || key.length > MAX_IDEMPOTENCY_KEY) {
    throw invalid(`must have 1 to ${MAX_IDEMPOTENCY_KEY} characters`)
  }
  const hash = purpose === 'count' ? hash63 : hash64
  return hash(`${BEGINNINGS[purpose]} ${key}`)
}

/**
 * The same for requests that must have a key.
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
