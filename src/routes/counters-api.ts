import * as z from 'zod'
import { MAX_READ } from '../counters/read.ts'
import { COUNTER_PARAMS, count, instant, typeParam } from '../openapi/fields.ts'
import { IDEMPOTENCY_KEY } from '../openapi/headers.ts'
import type { Operation } from '../openapi/operation.ts'
import { COUNTING, exampleProblem, READING } from '../openapi/problems.ts'
import { once } from '../query.ts'
import { byField } from './fields.ts'

const consistency = once(
  z
    .enum(['exact', 'rolled'], { error: 'must be "exact" (the default) or "rolled"' })
    .default('exact')
    .describe(
      '`exact`: total and pending, from one snapshot. `rolled`: the total alone, at most one roll-up old, and cacheable.',
    ),
)
const KEYS_RULE = `must be given 1 to ${MAX_READ} times: ?key=a&key=b`

const reading = z
  .strictObject({
    type: z.string(),
    key: z.string(),
    count: count.describe('The exact count: total + pending.'),
    total: count.describe('What has been rolled up.'),
    pending: count.describe('What has been counted and not yet rolled up.'),
    rolledUpAt: instant.nullable().describe('When the counter was last rolled up; null: never.'),
  })
  .meta({ id: 'Reading' })

const NEVER_COUNTED = { total: 0, pending: 0, count: 0, rolledUpAt: null }

export const increment = {
  id: 'increment',
  tag: 'Counting',
  method: 'post',
  path: '/v1/counters/{type}/{key}',
  summary: 'Add to a counter',
  description: 'Adds a whole number, which may be negative. An empty body adds 1.',
  access: 'token',
  params: COUNTER_PARAMS,
  query: {
    return: once(
      z
        .literal('count', { error: 'must be "count" if given' })
        .optional()
        .describe('`count`: tells the new count too.'),
    ),
  },
  headers: IDEMPOTENCY_KEY,
  body: {
    schema: z.strictObject(
      { by: byField.default(1).describe('What to add.') },
      { error: 'must be an object such as {"by":1}' },
    ),
    optional: true,
  },
  answers: {
    200: {
      description: 'Counted: committed to the database.',
      schema: z
        .strictObject({
          type: z.string(),
          key: z.string(),
          added: z.int(),
          count: count
            .nullable()
            .optional()
            .describe('The new count, if asked for; null: counted, but it could not be read.'),
        })
        .meta({ id: 'Added' }),
      headers: ['X-Hit'],
    },
    202: {
      description: 'In the queue, because the database does not answer: it will be counted.',
      schema: z.strictObject({ type: z.string(), key: z.string(), added: z.int(), count: z.null().optional() }),
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
  problemHeaders: ['X-Hit'],
  examples: {
    five: {
      summary: 'Five more, and the new count',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { return: 'count' },
      body: { by: 5 },
      answer: { type: 'download', key: 'app-1.2.0.tgz', added: 5, count: 5 },
      says: { 'X-Hit': 'counted' },
    },
    one: {
      summary: 'One more, once however often it is sent',
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
} as const satisfies Operation

export const read = {
  id: 'read',
  tag: 'Reading',
  method: 'get',
  path: '/v1/counters/{type}/{key}',
  summary: 'Read a counter',
  description: 'What was never counted reads as zeros.',
  access: 'token-unless-public',
  params: COUNTER_PARAMS,
  query: { consistency },
  answers: { 200: { description: 'The counter.', schema: reading } },
  revalidated: true,
  problems: ['malformed_key', 'malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...READING],
  examples: {
    exact: {
      summary: 'An exact count',
      params: { type: 'page_view', key: '/blog/hello' },
      answer: {
        type: 'page_view',
        key: '/blog/hello',
        count: 12,
        total: 10,
        pending: 2,
        rolledUpAt: '2026-11-20T10:00:00.000Z',
      },
    },
    rolled: {
      summary: 'As of the last roll-up',
      params: { type: 'page_view', key: '/never' },
      query: { consistency: 'rolled' },
      answer: { type: 'page_view', key: '/never', ...NEVER_COUNTED },
    },
  },
} as const satisfies Operation

export const readMany = {
  id: 'readMany',
  tag: 'Reading',
  method: 'get',
  path: '/v1/counters/{type}',
  summary: 'Read several counters of a type',
  description: `Up to ${MAX_READ} keys, or the 16 KB that Cloudflare allows a URL. Answers are in the order of the keys; exact ones are all from one snapshot.`,
  access: 'token-unless-public',
  params: { type: typeParam },
  query: {
    key: z
      .array(z.string(), { error: KEYS_RULE })
      .min(1, KEYS_RULE)
      .max(MAX_READ, KEYS_RULE)
      .describe('A key; repeated for each: `?key=a&key=b`.'),
    consistency,
  },
  answers: { 200: { description: 'The counters.', schema: z.strictObject({ counters: z.array(reading) }) } },
  revalidated: true,
  problems: ['malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...READING],
  examples: {
    two: {
      summary: 'Two pages',
      params: { type: 'page_view' },
      query: { key: ['/a', '/b'] },
      answer: {
        counters: [
          { type: 'page_view', key: '/a', ...NEVER_COUNTED },
          { type: 'page_view', key: '/b', ...NEVER_COUNTED },
        ],
      },
    },
    emptyKey: {
      summary: 'A key that cannot be',
      params: { type: 'page_view' },
      query: { key: ['/a', ''] },
      status: 422,
      answer: exampleProblem('invalid_request', 'key.1 must not be empty.', [
        { field: 'key.1', message: 'must not be empty' },
      ]),
    },
    unknownType: {
      summary: 'A type that is not configured',
      params: { type: 'nothing' },
      query: { key: ['/a'] },
      status: 404,
      answer: exampleProblem(
        'unknown_type',
        'The type in the path is not configured. Public types: page_view, download.',
      ),
    },
  },
} as const satisfies Operation
