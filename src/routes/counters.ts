import { Hono } from 'hono'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { CounterType } from '../config.ts'
import { MAX_READ, type Reading, readCounters } from '../counters/read.ts'
import { countFor } from '../counting.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { tellHit } from '../hit-header.ts'
import { limitBody, readJson } from '../json-body.ts'
import { log } from '../log.ts'
import { once, readQuery } from '../query.ts'
import { namedCounter, pathCounter, pathType } from '../request.ts'
import { revalidated } from '../revalidation.ts'
import { byField } from './fields.ts'
import { idempotencyKey, SEND_AGAIN } from './idempotency-key.ts'
import { mayRead, shared } from './public-reading.ts'

const MAX_BODY_BYTES = 1024
/** Seconds for which a reading that may be one roll-up old may be served from a cache. */
const ROLLED_MAX_AGE = 30

const incrementBody = z.strictObject({ by: byField.default(1) }, { error: 'must be an object such as {"by":1}' })
const wantedReturn = once(z.literal('count', { error: 'must be "count" if given' }).optional())
const consistency = once(
  z.enum(['exact', 'rolled'], { error: 'must be "exact" (the default) or "rolled"' }).default('exact'),
)
const KEYS_RULE = `must be given 1 to ${MAX_READ} times: ?key=a&key=b`
const keys = z.array(z.string(), { error: KEYS_RULE }).max(MAX_READ, KEYS_RULE)

const countQuery = { return: wantedReturn }
const readingQuery = { consistency }
const listQuery = { key: keys, consistency }

/** Single counters and lists of them: `/v1/counters/…`. */
export const counters = new Hono<AppEnv>()

counters.post('/v1/counters/:type/:key', tellHit, requireToken, limitBody(MAX_BODY_BYTES), async (c) => {
  const type = pathType(c)
  const { counter, key } = await pathCounter(c, type)
  const query = readQuery(c, countQuery)
  const idempotency = await idempotencyKey(c)
  const { by } = await readJson(c, incrementBody, { empty: {} })
  const outcome = await countFor(c, c.var.counting, [{ counter, by: BigInt(by) }], {
    key: idempotency,
    advice: SEND_AGAIN,
  })
  const answer = { type: type.name, key, added: by }
  if (outcome === 'queued') {
    return c.json(query.return === undefined ? answer : { ...answer, count: null }, 202, { 'X-Hit': 'queued' })
  }
  if (query.return === undefined) return c.json(answer, 200, { 'X-Hit': 'counted' })
  // It has been counted, whatever becomes of the reading: an error here would make the client count it again.
  const reading = await readCounters(c.var.db, [counter]).then(
    ([reading]) => toJsonNumber(reading!.total + reading!.pending),
    (error: unknown) => {
      log('warn', 'counted_but_not_read', { requestId: c.get('requestId'), error: String(error) })
      return null
    },
  )
  return c.json({ ...answer, count: reading }, 200, { 'X-Hit': 'counted' })
})

counters.on(['GET', 'OPTIONS'], '/v1/counters/:type/:key', shared)
counters.get('/v1/counters/:type/:key', revalidated, async (c) => {
  const type = pathType(c)
  await mayRead(c, type)
  const { counter, key } = await pathCounter(c, type)
  const query = readQuery(c, readingQuery)
  const [reading] = await readCounters(c.var.db, [counter], query.consistency)
  return c.json(toAnswer(type, key, reading!), 200, { 'Cache-Control': cacheControl(type, query.consistency) })
})

counters.on(['GET', 'OPTIONS'], '/v1/counters/:type', shared)
counters.get('/v1/counters/:type', revalidated, async (c) => {
  const type = pathType(c)
  await mayRead(c, type)
  const query = readQuery(c, listQuery)
  const named = await Promise.all(query.key.map((key, index) => namedCounter(c.var.known, type, key, `key.${index}`)))
  const readings = await readCounters(c.var.db, named, query.consistency)
  const answers = readings.map((reading, index) => toAnswer(type, query.key[index]!, reading))
  return c.json({ counters: answers }, 200, { 'Cache-Control': cacheControl(type, query.consistency) })
})

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
function cacheControl(type: CounterType, kind: 'exact' | 'rolled'): string {
  return `${type.public ? 'public' : 'private'}, ${kind === 'exact' ? 'no-cache' : `max-age=${ROLLED_MAX_AGE}`}`
}
