import * as z from 'zod/mini'
import { once } from '../http/query-string.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { incrementKey } from '../openapi/headers.ts'
import { onFirstUse } from '../openapi/on-first-use.ts'
import { COUNTING, exampleProblem } from '../openapi/problem-schema.ts'
import { COUNTER_PARAMS, count, TYPE_DESCRIPTION } from '../openapi/shared-schemas.ts'
import { byField, keyField, typeField } from './request-fields.ts'

const incrementQuery = onFirstUse(() => ({
  return: once(
    described(
      z.optional(z.literal('count', { error: 'must be "count" if given' })),
      '`count`: also return the new count. For types that are not public, this needs the scope `manage`.',
    ),
  ),
}))
const incrementBody = onFirstUse(() =>
  z.strictObject(
    { by: described(z._default(byField, 1), 'The number to add.') },
    { error: 'must be an object such as {"by":1}' },
  ),
)

export const increment = {
  method: 'post',
  path: '/v1/counters/{type}/{key}',
  access: 'count',
  params: COUNTER_PARAMS,
  get query() {
    return incrementQuery()
  },
  body: {
    maxBytes: 1024,
    get schema() {
      return incrementBody()
    },
    optional: true,
  },
  problemHeaders: ['X-Hit'],
} as const satisfies Route

export const incrementContract = /* @__PURE__ */ documented(increment, () => ({
  id: 'increment',
  tag: 'Counting',
  summary: 'Add to a counter',
  description: 'Adds a whole number, which may be negative. An empty body adds 1.',
  headers: incrementKey(),
  answers: {
    200: {
      description: 'Counted: committed to the database.',
      schema: described(
        z.strictObject({
          type: z.string(),
          key: z.string(),
          added: z.int(),
          count: described(
            z.optional(z.nullable(count)),
            'The new count, if requested. null: the increment was counted, but the count could not be read.',
          ),
        }),
        { id: 'Added' },
      ),
      headers: ['X-Hit'],
    },
    202: {
      description: 'Queued, because the database is unavailable. It will be counted later.',
      schema: z.strictObject({ type: z.string(), key: z.string(), added: z.int(), count: z.optional(z.null()) }),
      headers: ['X-Hit'],
    },
  },
  problems: [
    'malformed_body',
    'malformed_key',
    'malformed_query',
    'unauthorized',
    'unknown_type',
    'body_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...COUNTING,
  ],
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
      answer: exampleProblem(
        'unknown_type',
        'The type in the path is not configured. Public types: page_view, download.',
      ),
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
}))

/** The maximum number of increments in a request. */
const MAX_INCREMENTS = 1_000

const LENGTH_RULE = `must be a list of 1 to ${MAX_INCREMENTS} increments`
/** An entry of a list of increments. */
export const listed = onFirstUse(() =>
  described(
    z.strictObject(
      {
        type: described(typeField, TYPE_DESCRIPTION),
        key: described(keyField, 'The key, not percent-encoded.'),
        by: described(z._default(byField, 1), 'The number to add.'),
      },
      { error: 'must be an object' },
    ),
    { id: 'Increment' },
  ),
)

const accepted = () =>
  described(z.strictObject({ accepted: described(z.int(), 'The number of increments.') }), {
    id: 'Accepted',
  })

const incrementManyBody = onFirstUse(() =>
  z.strictObject(
    {
      increments: z
        .array(listed(), { error: LENGTH_RULE })
        .check(z.minLength(1, LENGTH_RULE), z.maxLength(MAX_INCREMENTS, LENGTH_RULE)),
    },
    { error: 'must be an object with increments' },
  ),
)

export const incrementMany = {
  method: 'post',
  path: '/v1/increments',
  access: 'count',
  typesInBody: true,
  query: {},
  body: {
    // A thousand keys of 512 bytes and their frames fit with room to spare.
    maxBytes: 1024 * 1024,
    get schema() {
      return incrementManyBody()
    },
  },
  problemHeaders: ['X-Hit'],
} as const satisfies Route

export const incrementManyContract = /* @__PURE__ */ documented(incrementMany, () => ({
  id: 'incrementMany',
  tag: 'Counting',
  summary: 'Add to many counters',
  description: `Adds up to ${MAX_INCREMENTS} increments, which may be of different types: all of them or none.`,
  headers: incrementKey(),
  answers: {
    200: { description: 'Counted: committed to the database.', schema: accepted(), headers: ['X-Hit'] },
    202: {
      description: 'Queued, because the database is unavailable. They will be counted later.',
      schema: accepted(),
      headers: ['X-Hit'],
    },
  },
  problems: [
    'malformed_body',
    'malformed_query',
    'unauthorized',
    'body_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...COUNTING,
  ],
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
      answer: exampleProblem('invalid_request', 'increments.0.type is not a configured counter type.', [
        { field: 'increments.0.type', message: 'is not a configured counter type' },
      ]),
      says: { 'X-Hit': 'ignored; reason=invalid_request' },
    },
  },
}))
