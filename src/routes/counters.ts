import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { CounterType } from '../config.ts'
import type { Reading } from '../counters/read.ts'
import { countFor } from '../counting.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { tellHit } from '../hit-header.ts'
import { limitBody, readJson } from '../json-body.ts'
import { log } from '../log.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { readFor } from '../reading.ts'
import { namedCounter, pathCounter, pathType } from '../request.ts'
import { revalidated } from '../revalidation.ts'
import { increment, read, readMany } from './counters-api.ts'
import { idempotencyKey, SEND_AGAIN } from './idempotency-key.ts'
import { mayRead, shared } from './public-reading.ts'

const MAX_BODY_BYTES = 1024

const routes = new Hono<AppEnv>()
routes.on(['GET', 'OPTIONS'], ['/v1/counters/:type/:key', '/v1/counters/:type'], shared)

/** Single counters and lists of them: `/v1/counters/…`. */
export const counters = routes
  .post(
    '/v1/counters/:type/:key',
    tellHit,
    requireToken,
    limitBody(MAX_BODY_BYTES),
    describe(increment, async (c) => {
      const type = pathType(c)
      const { counter, key } = await pathCounter(c, type)
      const query = readQuery(c, increment.query)
      const idempotency = await idempotencyKey(c, 'count')
      const { by } = await readJson(c, increment.body.schema, { empty: {} })
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
      const reading = await readFor(c, [counter]).then(
        ({ readings: [reading] }) => toJsonNumber(reading!.total + reading!.pending),
        (error: unknown) => {
          log('warn', 'counted_but_not_read', { requestId: c.get('requestId'), error: String(error) })
          return null
        },
      )
      return c.json({ ...answer, count: reading }, 200, { 'X-Hit': 'counted' })
    }),
  )
  .get(
    '/v1/counters/:type/:key',
    revalidated,
    describe(read, async (c) => {
      const type = pathType(c)
      await mayRead(c, type)
      const { counter, key } = await pathCounter(c, type)
      const query = readQuery(c, read.query)
      const { readings, maxAge } = await readFor(c, [counter], query.consistency)
      return c.json(toAnswer(type, key, readings[0]!), 200, { 'Cache-Control': cacheControl(type, maxAge) })
    }),
  )
  .get(
    '/v1/counters/:type',
    revalidated,
    describe(readMany, async (c) => {
      const type = pathType(c)
      await mayRead(c, type)
      const query = readQuery(c, readMany.query)
      const named = await Promise.all(
        query.key.map((key, index) => namedCounter(c.var.known, type, key, `key.${index}`)),
      )
      const { readings, maxAge } = await readFor(c, named, query.consistency)
      const answers = readings.map((reading, index) => toAnswer(type, query.key[index]!, reading))
      return c.json({ counters: answers }, 200, { 'Cache-Control': cacheControl(type, maxAge) })
    }),
  )

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

/** @param maxAge seconds; `null`: it is revalidated every time */
function cacheControl(type: CounterType, maxAge: number | null): string {
  return `${type.public ? 'public' : 'private'}, ${maxAge === null ? 'no-cache' : `max-age=${maxAge}`}`
}
