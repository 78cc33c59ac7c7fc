import { toJsonNumber } from '../database/numbers.ts'
import { checkScope, checkTypes } from '../http/authorization.ts'
import { addToCounters } from '../http/count-for-request.ts'
import { endpoint } from '../http/endpoint.ts'
import { idempotencyKey, SEND_AGAIN } from '../http/idempotency-key.ts'
import { readJson } from '../http/json-body.ts'
import { listedCounters } from '../http/named-counters.ts'
import { readCountersFor } from '../http/read-for-request.ts'
import { isolateOf } from '../isolate.ts'
import { log } from '../log.ts'
import {
  type incrementContract,
  incrementMany,
  type incrementManyContract,
  increment as incrementOne,
} from './increment-contract.ts'

/** Adds to one counter. */
export const increment = endpoint<typeof incrementContract>(incrementOne, async (c, { type, key, counter, query }) => {
  if (query.return !== undefined && !type.public) checkScope(c, 'read')
  const idempotency = await idempotencyKey(c, 'count')
  const { by } = await readJson(c, incrementOne.body.schema, { empty: {} })
  const options = { key: idempotency, advice: SEND_AGAIN }
  const outcome = await addToCounters(c, [{ counter, by: BigInt(by) }], options)
  const answer = { type: type.name, key, added: by }
  if (outcome === 'queued') {
    return c.json(query.return === undefined ? answer : { ...answer, count: null }, 202, { 'X-Hit': 'queued' })
  }
  if (query.return === undefined) return c.json(answer, 200, { 'X-Hit': 'counted' })
  // The increment is counted even if the reading fails. An error here would make the client count it again.
  const count = await readCountersFor(c, [counter]).then(
    ({ readings: [reading] }) => toJsonNumber(reading!.total + reading!.pending),
    (error: unknown) => {
      log('warn', 'counted_but_not_read', { requestId: c.get('requestId'), error: String(error) })
      return null
    },
  )
  return c.json({ ...answer, count }, 200, { 'X-Hit': 'counted' })
})

/** Adds to many counters at once: all of them or none. */
export const increments = endpoint<typeof incrementManyContract>(incrementMany, async (c) => {
  const key = await idempotencyKey(c, 'count')
  const body = await readJson(c, incrementMany.body.schema)
  const counters = await listedCounters(isolateOf(c.env), 'increments', body.increments)
  checkTypes(
    c,
    body.increments.map(({ type }) => type),
  )
  const increments = body.increments.map(({ by }, index) => ({ counter: counters[index]!, by: BigInt(by) }))
  const outcome = await addToCounters(c, increments, { key, advice: SEND_AGAIN })
  return c.json({ accepted: increments.length }, outcome === 'queued' ? 202 : 200, { 'X-Hit': outcome })
})
