import * as v from 'valibot'
import { countIn } from '../counters/read/read-counters.ts'
import { checkScope, checkTypes } from '../http/authorization.ts'
import { endpoint } from '../http/endpoint.ts'
import { log } from '../log.ts'
import { COUNTING, count, described, namedObject, ok, operation, route, whole } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { addToCounters } from '../service/count-visit.ts'
import { countingError, listedCounters } from '../service/named-counters.ts'
import { invalidRequest } from '../service/problem.ts'
import { readCounters } from '../service/read.ts'

const ADVICE = 'Retry with the same Idempotency-Key to count it exactly once.'

const incrementOne = route('post', '/v1/counters/{type}/{key}', 'count', {
  query: () => ({
    return: v.optional(v.literal('count', 'must be "count" if given')),
  }),
  body: { ...fields.shortBody(1024, '{"by":1}', () => ({ by: fields.by })), optional: true },
  idempotency: 'count',
  tellsHit: true,
})

export const incrementContract = () =>
  operation(incrementOne, 'Counting', 'increment', {
    summary: 'Add to a counter',
    description: 'Adds a whole number, which may be negative. An empty body adds 1.',
    notes: {
      return: '`count`: return the new count too. For types that are not public, this needs the scope `manage`.',
      by: 'The number to add.',
    },
    answers: {
      ...ok('Counted: committed to the database.', 'Added', {
        type: v.string(),
        key: v.string(),
        added: whole,
        count: described(
          v.optional(v.nullable(count)),
          'The new count, if requested; null if it was counted but could not be read.',
        ),
      }),
      202: {
        description: 'Queued, because the database is unavailable. It will be counted later.',
        schema: v.strictObject({ type: v.string(), key: v.string(), added: whole, count: v.optional(v.null()) }),
      },
    },
    problems: COUNTING,
  })

const accepted = () => namedObject('Accepted', { accepted: described(whole, 'The number of increments.') })

const incrementMany = route('post', '/v1/increments', 'count', {
  typesInBody: true,
  body: fields.incrementList,
  idempotency: 'count',
  tellsHit: true,
})

export const incrementManyContract = () =>
  operation(incrementMany, 'Counting', 'incrementMany', {
    summary: 'Add to many counters',
    description: `Adds up to ${fields.MAX_LISTED} increments, which may be of different types: all of them or none.`,
    notes: { increments: { entry: 'Increment' }, by: 'The number to add.' },
    answers: {
      200: { description: 'Counted: committed to the database.', schema: accepted() },
      202: {
        description: 'Queued, because the database is unavailable. They will be counted later.',
        schema: accepted(),
      },
    },
    problems: COUNTING,
  })

const NO_STORE = { 'Cache-Control': 'no-store' }

export const increment = endpoint<typeof incrementContract>(incrementOne, async (c, parts) => {
  const { caller, type, key, counter, id, query, body } = parts
  const wrong = countingError(type)
  if (wrong !== null) throw invalidRequest([wrong])
  if (query.return !== undefined && !type.public) checkScope(c, 'read')
  const outcome = await addToCounters(caller, [{ counter, by: BigInt(body.by) }], { key: id, advice: ADVICE })
  const answer = { type: type.name, key, added: body.by }
  c.header('X-Hit', outcome)
  if (outcome === 'queued') {
    return c.json(query.return === undefined ? answer : { ...answer, count: null }, 202, NO_STORE)
  }
  if (query.return === undefined) return answer
  // It is counted even if the reading fails. An error would make the client count it again.
  const count = await readCounters(caller, [counter]).then(
    ({ readings: [reading] }) => (reading!.pending === null ? null : countIn(reading!)),
    (error: unknown) => {
      log('warn', 'counted_but_not_read', { requestId: c.get('requestId'), error: String(error) })
      return null
    },
  )
  return { ...answer, count }
})

export const increments = endpoint<typeof incrementManyContract>(incrementMany, async (c, { caller, id, body }) => {
  const listed = await listedCounters(caller.isolate, 'increments', body.increments, countingError)
  checkTypes(c, ...body.increments.map(({ type }) => type))
  const increments = listed.map(({ counter, by }) => ({ counter, by: BigInt(by) }))
  const outcome = await addToCounters(caller, increments, { key: id, advice: ADVICE })
  c.header('X-Hit', outcome)
  const answer = { accepted: increments.length }
  return outcome === 'queued' ? c.json(answer, 202, NO_STORE) : answer
})
