import type { Context } from 'hono'
import { hashOfKey, type KeyPurpose } from '../service/named-counters.ts'
import { problemOf } from '../service/problem.ts'
import type { AppEnv } from './hono.ts'

/** Hashes the `Idempotency-Key`, if any: to slot and batch id, or the id of a change. @throws {Problem} 422 */
export async function idempotencyKey(c: Context<AppEnv>, purpose: KeyPurpose): Promise<bigint | undefined> {
  const key = c.req.header('Idempotency-Key')
  return key === undefined ? undefined : hashOfKey(key, purpose)
}

/**
 * Waits for a change of counters, and returns the answer.
 * @param id the hash of the request's idempotency key
 * @param changing resolves to `repeated` if an earlier request with the same key made the change
 * @throws {Problem} that says whether anything was changed
 */
export async function answerChange<Answer>(
  c: Context<AppEnv>,
  id: bigint | undefined,
  changing: Promise<string>,
  answer: Answer,
): Promise<Answer> {
  // A client that hangs up must not leave a transaction open that holds locks.
  c.executionCtx.waitUntil(changing.catch(() => {}))
  const outcome = await changing.catch((error: unknown) => {
    const advice =
      id === undefined
        ? 'Read the counter. A request with an Idempotency-Key can be retried.'
        : 'Retry with the same Idempotency-Key.'
    throw problemOf(error, advice)
  })
  if (outcome === 'repeated') c.header('Idempotent-Replayed', 'true')
  return answer
}
