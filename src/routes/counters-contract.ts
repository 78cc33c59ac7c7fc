import * as z from 'zod/mini'
import { MAX_READ } from '../counters/read/read-counters.ts'
import { once } from '../http/query-string.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { onFirstUse } from '../openapi/on-first-use.ts'
import { exampleProblem, PUBLIC_READING, READING } from '../openapi/problem-schema.ts'
import { COUNTER_PARAMS, count, instant, typeParam } from '../openapi/shared-schemas.ts'

/** The parameter that chooses between exact and cached counts. */
export const consistency = onFirstUse(() =>
  once(
    described(
      z._default(z.enum(['exact', 'rolled'], { error: 'must be "exact" (the default) or "rolled"' }), 'exact'),
      '`exact`: total and pending, read from one snapshot. `rolled`: the total only; it is at most one roll-up old and cacheable.',
    ),
  ),
)
const KEYS_RULE = `must be given 1 to ${MAX_READ} times: ?key=a&key=b`

const reading = () =>
  described(
    z.strictObject({
      type: z.string(),
      key: z.string(),
      count: described(count, 'The exact count: total + pending.'),
      total: described(count, 'The part that has been rolled up.'),
      pending: described(count, 'The part that has not been rolled up yet.'),
      rolledUpAt: described(z.nullable(instant), 'When the counter was last rolled up; null if never.'),
    }),
    { id: 'Reading' },
  )

const NEVER_COUNTED = { total: 0, pending: 0, count: 0, rolledUpAt: null }

const readQuery = onFirstUse(() => ({ consistency: consistency() }))

export const read = {
  method: 'get',
  path: '/v1/counters/{type}/{key}',
  access: 'read-unless-public',
  params: COUNTER_PARAMS,
  get query() {
    return readQuery()
  },
} as const satisfies Route

export const readContract = /* @__PURE__ */ documented(read, () => ({
  id: 'read',
  tag: 'Reading',
  summary: 'Get a counter',
  description: 'A key that was never counted returns zeros.',
  answers: { 200: { description: 'The counter.', schema: reading() } },
  revalidated: true,
  problems: ['malformed_key', ...PUBLIC_READING, ...READING],
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
}))

const readManyQuery = onFirstUse(() => ({
  key: described(
    z.array(z.string(), { error: KEYS_RULE }).check(z.minLength(1, KEYS_RULE), z.maxLength(MAX_READ, KEYS_RULE)),
    'A key. Repeat the parameter for each key: `?key=a&key=b`.',
  ),
  consistency: consistency(),
}))

export const readMany = {
  method: 'get',
  path: '/v1/counters/{type}',
  access: 'read-unless-public',
  params: { type: typeParam },
  get query() {
    return readManyQuery()
  },
} as const satisfies Route

export const readManyContract = /* @__PURE__ */ documented(readMany, () => ({
  id: 'readMany',
  tag: 'Reading',
  summary: 'List counters',
  description: `Returns the counters of up to ${MAX_READ} keys, in the order of the keys. Cloudflare limits the URL to 16 KB. Exact counts all come from one snapshot.`,
  answers: { 200: { description: 'The counters.', schema: z.strictObject({ counters: z.array(reading()) }) } },
  revalidated: true,
  problems: [...PUBLIC_READING, ...READING],
  examples: {
    two: {
      summary: 'Two counters',
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
      summary: 'An empty key',
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
}))
