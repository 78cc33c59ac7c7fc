import type { Context } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { invalidRequest } from '../request.ts'

const MAX_LENGTH = 255

/** What to do when nobody knows whether something was counted. */
export const SEND_AGAIN = 'Send it again with the same Idempotency-Key to count it exactly once.'

/**
 * The request's `Idempotency-Key`, if it has one (draft-ietf-httpapi-idempotency-key-header).
 *
 * @throws {Problem} 422
 */
export function idempotencyKey(c: Context<AppEnv>): string | undefined {
  const key = c.req.header('Idempotency-Key')
  if (key !== undefined && (key === '' || key.length > MAX_LENGTH)) {
    throw invalidRequest([{ field: 'Idempotency-Key', message: `must have 1 to ${MAX_LENGTH} characters` }])
  }
  return key
}
