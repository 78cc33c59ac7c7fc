import type { Context } from 'hono'
import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import { random64 } from '../counters/random.ts'
import { setCounter } from '../counters/set.ts'
import { adjustingProblem } from '../database-problem.ts'
import { limitBody, readJson } from '../json-body.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { pathCounter, pathType } from '../request.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { resetCount, setCount } from './set-api.ts'

const MAX_BODY_BYTES = 1024

/** Setting counters, with the token. */
export const settings = new Hono<AppEnv>()
  .put(
    '/v1/counters/:type/:key',
    requireToken,
    limitBody(MAX_BODY_BYTES),
    describe(setCount, async (c) => set(c, async () => (await readJson(c, setCount.body.schema)).count)),
  )
  .delete(
    '/v1/counters/:type/:key',
    requireToken,
    describe(resetCount, async (c) => set(c, async () => 0)),
  )

async function set(c: Context<AppEnv>, readCount: () => Promise<number>) {
  const type = pathType(c)
  const { counter, key } = await pathCounter(c, type)
  readQuery(c, setCount.query)
  const given = await idempotencyKey(c, 'set')
  const count = await readCount()
  const setting = setCounter(c.var.db, counter, {
    count: BigInt(count),
    id: given ?? random64(),
    at: new Date(),
  }).finally(() => c.var.reads.rolled.forget())
  // A client that hangs up must not leave a transaction open, with its locks.
  c.executionCtx.waitUntil(setting.catch(() => {}))
  const outcome = await setting.catch((error: unknown) => {
    throw adjustingProblem(
      error,
      given === undefined
        ? 'Read the counter, or send the request with an Idempotency-Key.'
        : 'Send it again with the same Idempotency-Key.',
    )
  })
  const answer = { type: type.name, key, count }
  return c.json(answer, 200, {
    'Cache-Control': 'no-store',
    // What was done then is the answer; what the counter says by now, a reading tells.
    ...(outcome === 'repeated' && { 'Idempotent-Replayed': 'true' }),
  })
}
