import * as z from 'zod'
import { COUNTER_PARAMS } from '../openapi/fields.ts'
import { SETTING_KEY } from '../openapi/headers.ts'
import type { Operation } from '../openapi/operation.ts'
import { ADJUSTING } from '../openapi/problems.ts'
import { countField } from './fields.ts'

const answers = {
  200: {
    description: 'Set: now, or when the request came first.',
    headers: ['Idempotent-Replayed'],
    schema: z.strictObject({ type: z.string(), key: z.string(), count: z.int() }).meta({ id: 'Setting' }),
  },
} as const

export const setCount = {
  id: 'set',
  tag: 'Changing',
  method: 'put',
  path: '/v1/counters/{type}/{key}',
  summary: 'Set a counter',
  description: 'To any whole number. What is counted meanwhile stays counted: it comes on top.',
  access: 'token',
  params: COUNTER_PARAMS,
  query: {},
  headers: SETTING_KEY,
  body: {
    schema: z.strictObject(
      { count: countField.describe('What the counter is to say.') },
      { error: 'must be an object such as {"count":0}' },
    ),
  },
  answers,
  problems: [
    'malformed_body',
    'malformed_key',
    'malformed_query',
    'unauthorized',
    'unknown_type',
    'body_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...ADJUSTING,
  ],
  examples: {
    carryOver: {
      summary: 'A number from before',
      params: { type: 'page_view', key: '/about' },
      headers: { 'Idempotency-Key': 'carry-over-about' },
      body: { count: 1234 },
      answer: { type: 'page_view', key: '/about', count: 1234 },
    },
    again: {
      summary: 'The same request once more',
      params: { type: 'page_view', key: '/about' },
      headers: { 'Idempotency-Key': 'carry-over-about' },
      body: { count: 1234 },
      answer: { type: 'page_view', key: '/about', count: 1234 },
      says: { 'Idempotent-Replayed': 'true' },
    },
  },
} as const satisfies Operation

export const resetCount = {
  id: 'reset',
  tag: 'Changing',
  method: 'delete',
  path: '/v1/counters/{type}/{key}',
  summary: 'Set a counter to zero',
  description: 'Its history stays.',
  access: 'token',
  params: COUNTER_PARAMS,
  query: {},
  headers: SETTING_KEY,
  answers,
  problems: ['malformed_key', 'malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...ADJUSTING],
  examples: {
    reset: {
      summary: 'To zero',
      params: { type: 'page_view', key: '/about' },
      answer: { type: 'page_view', key: '/about', count: 0 },
    },
  },
} as const satisfies Operation
