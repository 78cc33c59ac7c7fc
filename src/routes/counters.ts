import type { Context } from 'hono'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { etag } from 'hono/etag'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { checkToken, requireToken } from '../authorization.ts'
import type { CounterType } from '../config.ts'
import { count } from '../counters/count.ts'
import { MAX_READ, type Reading, readCounters } from '../counters/read.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { invalidRequest, namedCounter, pathCounter, pathType, readJson } from '../request.ts'
import { bodyTooLarge, byField, countingProblem } from './fields.ts'
import { idempotencyKey } from './idempotency-key.ts'

const MAX_BODY_BYTES = 1024
/** Seconds for which a reading that may be one roll-up old may be served from a cache. */
const ROLLED_MAX_AGE = 30

const incrementBody = z.strictObject({ by: byField.default(1) }, { error: 'must be an object such as {"by":1}' })
const incrementQuery = z.strictObject(
  { return: z.literal('count', { error: 'must be "count" if given' }).optional() },
  { error: 'has unknown parameters' },
)
const consistency = z.enum(['exact', 'rolled'], { error: 'must be "exact" (the default) or "rolled"' }).default('exact')

/** Single counters and lists of them: `/v1/counters/…`. */
export const counters = new Hono<AppEnv>()

counters.post(
  '/v1/counters/:type/:key',
  requireToken,
  bodyLimit({ maxSize: MAX_BODY_BYTES, onError: bodyTooLarge(MAX_BODY_BYTES) }),
  async (c) => {
    const type = pathType(c)
    const { counter, key } = await pathCounter(c, type)
    const wanted = checkQuery(c, incrementQuery)
    const idempotency = idempotencyKey(c)
    const { by } = await readJson(c, incrementBody, { empty: {} })
    await count(c.var.counting, [{ counter, by: BigInt(by) }], idempotency).catch(countingProblem)
    const answer = { type: type.name, key, added: by }
    if (wanted.return === undefined) return c.json(answer, 200, { 'X-Hit': 'counted' })
    const [reading] = await readCounters(c.var.db, [counter])
    return c.json({ ...answer, count: toJsonNumber(reading!.total + reading!.pending) }, 200, { 'X-Hit': 'counted' })
  },
)

counters.get('/v1/counters/:type/:key', etag(), async (c) => {
  const type = pathType(c)
  await mayRead(c, type)
  const { counter, key } = await pathCounter(c, type)
  const query = checkQuery(c, z.strictObject({ consistency }))
  const [reading] = await readCounters(c.var.db, [counter], query.consistency)
  return c.json(toAnswer(type, key, reading!), 200, readHeaders(type, query.consistency))
})

counters.get('/v1/counters/:type', etag(), async (c) => {
  const type = pathType(c)
  await mayRead(c, type)
  const keys = c.req.queries('key') ?? []
  if (keys.length === 0 || keys.length > MAX_READ) {
    throw invalidRequest([{ field: 'key', message: `must be given 1 to ${MAX_READ} times: ?key=a&key=b` }])
  }
  const query = checkQuery(c, z.strictObject({ key: z.string(), consistency }))
  const named = await Promise.all(keys.map((key, index) => namedCounter(type, key, `key.${index}`)))
  const readings = await readCounters(c.var.db, named, query.consistency)
  const answers = readings.map((reading, index) => toAnswer(type, keys[index]!, reading))
  return c.json({ counters: answers }, 200, readHeaders(type, query.consistency))
})

async function mayRead(c: Context<AppEnv>, type: CounterType): Promise<void> {
  if (!type.public) await checkToken(c)
}

function checkQuery<Schema extends z.ZodType>(c: Context<AppEnv>, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(c.req.query())
  if (parsed.success) return parsed.data
  throw invalidRequest(
    parsed.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((field) => ({ field, message: 'is not a parameter of this path' }))
        : [{ field: issue.path.join('.'), message: issue.message }],
    ),
  )
}

function toAnswer(type: CounterType, key: string, { total, pending, rolledUpAt }: Reading) {
  return {
    type: type.name,
    key,
    count: toJsonNumber(total + pending),
    total: toJsonNumber(total),
    pending: toJsonNumber(pending),
    rolledUpAt: rolledUpAt?.toISOString() ?? null,
  }
}

/** Exact readings are revalidated every time; those that may be a roll-up old anyway may be kept for a while. */
function readHeaders(type: CounterType, kind: 'exact' | 'rolled'): Record<string, string> {
  const scope = type.public ? 'public' : 'private'
  const age = kind === 'exact' ? 'no-cache' : `max-age=${ROLLED_MAX_AGE}`
  return { 'Cache-Control': `${scope}, ${age}`, ...(type.public && { 'Access-Control-Allow-Origin': '*' }) }
}
