import type { Context } from 'hono'
import type { Caller } from '../service/caller.ts'
import { hashOfKey, type KeyPurpose } from '../service/named-counters.ts'
import { problemOf } from '../service/problem.ts'
import { isAuthorized } from './authorization.ts'
import type { AppEnv } from './hono.ts'

/** The request as a caller of the services. */
export function callerOf(c: Context<AppEnv>): Caller {
  const isolate = c.get('isolate')
  return {
    isolate,
    db: isolate.readDb,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
    hasToken: () => isAuthorized(c),
    wantsFresh: /\bno-cache\b/i.test(c.req.header('Cache-Control') ?? ''),
  }
}

/** Waits for a count, but not for long: then the answer is `late`. Counting continues after that. */
export async function withinTime<Counted>(
  c: Context<AppEnv>,
  counting: Promise<Counted>,
  milliseconds: number,
  late: Counted,
): Promise<Counted> {
  c.executionCtx.waitUntil(counting)
  const { promise: over, resolve } = Promise.withResolvers<Counted>()
  const timer = setTimeout(resolve, milliseconds, late)
  try {
    return await Promise.race([counting, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Continues work whose client hangs up: it must not leave a transaction open, with its locks. */
export function finished<Done>(c: Context<AppEnv>, work: Promise<Done>): Promise<Done> {
  c.executionCtx.waitUntil(work.catch(() => {}))
  return work
}

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
  const done = changing.finally(() => c.get('isolate').reads.forget())
  const outcome = await finished(c, done).catch((error: unknown) => {
    const advice =
      id === undefined
        ? 'Read the counter. A request with an Idempotency-Key can be retried.'
        : 'Retry with the same Idempotency-Key.'
    throw problemOf(error, advice)
  })
  if (outcome === 'repeated') c.header('Idempotent-Replayed', 'true')
  return answer
}
