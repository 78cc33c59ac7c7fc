import type { Context, TypedResponse } from 'hono'
import { hashOfKey, type KeyPurpose } from '../service/named-counters.ts'
import { problemOf } from '../service/problem.ts'
import type { AppEnv } from './hono.ts'

/** Hashes the `Idempotency-Key`, if any: to slot and batch id, or the id of a change. @throws {Problem} 422 */
export async function idempotencyKey(c: Context<AppEnv>, purpose: KeyPurpose): Promise<bigint | undefined> {
  const key = c.req.header('Idempotency-Key')
  return key === undefined ? undefined : hashOfKey(key, purpose)
}

/**
 * Waits for a change of counters, and answers.
 * @param id the hash of the request's idempotency key
 * @param changing resolves to `repeated` if an earlier request with the same key made the change
 * @throws {Problem} that says whether anything was changed
 */
export async function answerChange<Answer extends object>(
  c: Context<AppEnv>,
  id: bigint | undefined,
  changing: Promise<string>,
  answer: Answer,
): Promise<Response & TypedResponse<Answer, 200, 'json'>> {
  // A client that hangs up must not leave a transaction open that holds locks.
  c.executionCtx.waitUntil(changing.catch(() => {}))
  const outcome = await changing.catch((error: unknown) => {
    const advice =
      id === undefined
        ? 'Read the counter. A request with an Idempotency-Key can be retried.'
        : 'Retry with the same Idempotency-Key.'
    throw problemOf(error, advice)
  })
  return c.json<Answer, 200>(answer, 200, {
    'Cache-Control': 'no-store',
    ...(outcome === 'repeated' && { 'Idempotent-Replayed': 'true' }),
  }) as never
}
