import type { Context } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { hash64 } from '../counters/hash.ts'
import { invalidRequest } from '../request.ts'

const MAX_LENGTH = 255

/** What to do when nobody knows whether something was counted. */
export const SEND_AGAIN = 'Send it again with the same Idempotency-Key to count it exactly once.'

/**
 * What the request's `Idempotency-Key` stands for, if it has one (draft-ietf-httpapi-idempotency-key-header): the slot and
 * batch of everything it counts.
 *
 * @throws {Problem} 422
 */
export async function idempotencyKey(c: Context<AppEnv>): Promise<bigint | undefined> {
  const key = c.req.header('Idempotency-Key')
  if (key !== undefined && (key === '' || key.length > MAX_LENGTH)) {
    throw invalidRequest([{ field: 'Idempotency-Key', message: `must have 1 to ${MAX_LENGTH} characters` }])
  }
  return key === undefined ? undefined : hash64(`idempotency-key ${key}`)
}
