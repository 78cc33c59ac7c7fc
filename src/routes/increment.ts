import * as v from 'valibot'
import { countIn } from '../counters/read/read-counters.ts'
import { checkScope, checkTypes } from '../http/authorization.ts'
import { idempotencyKey } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import { log } from '../log.ts'
import { count, described, incrementKey, namedObject, operation, route, whole } from '../openapi/contract.ts'
import { byField, incrementList, MAX_LISTED, shortBody } from '../openapi/fields.ts'
import { COUNTING, exampleInvalid, exampleProblem, exampleUnknownType } from '../openapi/problems.ts'
import { addToCounters } from '../service/count-visit.ts'
import { listedCounters } from '../service/named-counters.ts'
import { readCounters } from '../service/read.ts'

/** For an increment whose outcome is unknown. */
const ADVICE = 'Retry with the same Idempotency-Key to count it exactly once.'

const incrementOne = route('post', '/v1/counters/{type}/{key}', 'count', {
  query: () => ({
    return: described(
      v.optional(v.literal('count', 'must be "count" if given')),
      '`count`: return the new count too. For types that are not public, this needs the scope `manage`.',
    ),
  }),
  body: { ...shortBody(1024, '{"by":1}', () => ({ by: byField })), optional: true },
  problemHeaders: ['X-Hit'],
})

export const incrementContract = () =>
  operation(incrementOne, {
    id: 'increment',
    tag: 'Counting',
    summary: 'Add to a counter',
    description: 'Adds a whole number, which may be negative. An empty body adds 1.',
    headers: incrementKey(),
    answers: {
      200: {
        description: 'Counted: committed to the database.',
        schema: namedObject('Added', {
          type: v.string(),
          key: v.string(),
          added: whole,
          count: described(
            v.optional(v.nullable(count)),
            'The new count, if requested; null if it was counted but could not be read.',
          ),
        }),
        headers: ['X-Hit'],
      },
      202: {
        description: 'Queued, because the database is unavailable. It will be counted later.',
        schema: v.strictObject({ type: v.string(), key: v.string(), added: whole, count: v.optional(v.null()) }),
        headers: ['X-Hit'],
      },
    },
    problems: [...COUNTING],
    examples: {
      five: {
        summary: 'Add 5 and return the new count',
        params: { type: 'download', key: 'app-1.2.0.tgz' },
        query: { return: 'count' },
        body: { by: 5 },
        answer: { type: 'download', key: 'app-1.2.0.tgz', added: 5, count: 5 },
        says: { 'X-Hit': 'counted' },
      },
      one: {
        summary: 'Add 1 with an idempotency key',
        params: { type: 'page_view', key: '/blog/hello' },
        headers: { 'Idempotency-Key': 'visit-4711' },
        answer: { type: 'page_view', key: '/blog/hello', added: 1 },
        says: { 'X-Hit': 'counted' },
      },
      unknownType: {
        summary: 'A type that is not configured: nothing is counted',
        params: { type: 'nothing', key: 'app-1.2.0.tgz' },
        body: { by: 5 },
        status: 404,
        answer: exampleUnknownType(),
        says: { 'X-Hit': 'ignored; reason=unknown_type' },
      },
      withoutToken: {
        summary: 'Without the token',
        params: { type: 'download', key: 'app-1.2.0.tgz' },
        body: { by: 5 },
        status: 401,
        answer: exampleProblem('unauthorized', 'Send Authorization: Bearer <API_TOKEN>.'),
        says: { 'X-Hit': 'ignored; reason=unauthorized' },
      },
    },
  })

const accepted = () => namedObject('Accepted', { accepted: described(whole, 'The number of increments.') })

const incrementMany = route('post', '/v1/increments', 'count', {
  typesInBody: true,
  body: incrementList,
  problemHeaders: ['X-Hit'],
})

export const incrementManyContract = () =>
  operation(incrementMany, {
    id: 'incrementMany',
    tag: 'Counting',
    summary: 'Add to many counters',
    description: `Adds up to ${MAX_LISTED} increments, which may be of different types: all of them or none.`,
    headers: incrementKey(),
    answers: {
      200: { description: 'Counted: committed to the database.', schema: accepted(), headers: ['X-Hit'] },
      202: {
        description: 'Queued, because the database is unavailable. They will be counted later.',
        schema: accepted(),
        headers: ['X-Hit'],
      },
    },
    problems: [...COUNTING],
    examples: {
      two: {
        summary: 'Two counters, with an idempotency key',
        headers: { 'Idempotency-Key': 'import-2026-11-20-part-1' },
        body: {
          increments: [
            { type: 'page_view', key: '/a' },
            { type: 'download', key: 'app.tgz', by: 3 },
          ],
        },
        answer: { accepted: 2 },
        says: { 'X-Hit': 'counted' },
      },
      unknownType: {
        summary: 'A type that is not configured: nothing is counted',
        body: { increments: [{ type: 'nothing', key: '/a' }] },
        status: 422,
        answer: exampleInvalid('increments.0.type', 'is not a configured counter type'),
        says: { 'X-Hit': 'ignored; reason=invalid_request' },
      },
    },
  })

const NO_STORE = { 'Cache-Control': 'no-store' }

export const increment = endpoint<typeof incrementContract>(incrementOne, async (c, parts) => {
  const { caller, type, key, counter, query, body } = parts
  if (query.return !== undefined && !type.public) checkScope(c, 'read')
  const options = { key: await idempotencyKey(c, 'count'), advice: ADVICE }
  const outcome = await addToCounters(caller, [{ counter, by: BigInt(body.by) }], options)
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

export const increments = endpoint<typeof incrementManyContract>(incrementMany, async (c, { caller, body }) => {
  const key = await idempotencyKey(c, 'count')
  const listed = await listedCounters(caller.isolate, 'increments', body.increments)
  checkTypes(c, ...body.increments.map(({ type }) => type))
  const increments = listed.map(({ counter, by }) => ({ counter, by: BigInt(by) }))
  const outcome = await addToCounters(caller, increments, { key, advice: ADVICE })
  c.header('X-Hit', outcome)
  const answer = { accepted: increments.length }
  return outcome === 'queued' ? c.json(answer, 202, NO_STORE) : answer
})
