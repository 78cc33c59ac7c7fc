import type { Context, TypedResponse } from 'hono'
import type { AppEnv } from './context.ts'
import { problemOf } from './problem-of.ts'

/**
 * Answers a request that changes counters, when the change is done.
 *
 * @param id the hash of the request's idempotency key
 * @param changing `repeated`: an earlier request with the same key did it
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
        ? 'Read the counter. With an Idempotency-Key, a request may be sent again.'
        : 'Send it again with the same Idempotency-Key.'
    throw problemOf(error, { may: 'have been done', advice })
  })
  return c.json<Answer, 200>(answer, 200, {
    'Cache-Control': 'no-store',
    ...(outcome === 'repeated' && { 'Idempotent-Replayed': 'true' }),
  }) as never
}
