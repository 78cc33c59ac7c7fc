import * as z from 'zod'
import { typeParam } from '../openapi/fields.ts'
import { IDEMPOTENCY_KEY } from '../openapi/headers.ts'
import type { Operation } from '../openapi/operation.ts'
import { COUNTING, exampleProblem } from '../openapi/problems.ts'
import { byField, keyField, typeField } from './fields.ts'

/** Most increments one request may carry. */
const MAX_INCREMENTS = 1_000

const LENGTH_RULE = `must be a list of 1 to ${MAX_INCREMENTS} increments`
const increment = z
  .strictObject(
    {
      type: typeField.describe(typeParam.description!),
      key: keyField.describe('The key, as it is.'),
      by: byField.default(1).describe('What to add.'),
    },
    { error: 'must be an object' },
  )
  .meta({ id: 'Increment' })

const accepted = z
  .strictObject({ accepted: z.int().describe('How many increments that were.') })
  .meta({ id: 'Accepted' })

export const incrementMany = {
  id: 'incrementMany',
  tag: 'Counting',
  method: 'post',
  path: '/v1/increments',
  summary: 'Add to many counters at once',
  description: `Up to ${MAX_INCREMENTS} increments of any types: all of them or none.`,
  access: 'token',
  headers: IDEMPOTENCY_KEY,
  body: {
    schema: z.strictObject(
      { increments: z.array(increment, { error: LENGTH_RULE }).min(1, LENGTH_RULE).max(MAX_INCREMENTS, LENGTH_RULE) },
      { error: 'must be an object with increments' },
    ),
  },
  answers: {
    200: { description: 'Counted: committed to the database.', schema: accepted, headers: ['X-Hit'] },
    202: {
      description: 'In the queue, because the database does not answer: they will be counted.',
      schema: accepted,
      headers: ['X-Hit'],
    },
  },
  problems: [
    'malformed_body',
    'unauthorized',
    'body_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...COUNTING,
  ],
  problemHeaders: ['X-Hit'],
  examples: {
    two: {
      summary: 'Two counters, once however often it is sent',
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
      summary: 'Refused: nothing is counted',
      body: { increments: [{ type: 'nothing', key: '/a' }] },
      status: 422,
      answer: exampleProblem('invalid_request', 'increments.0.type is not a configured counter type.', [
        { field: 'increments.0.type', message: 'is not a configured counter type' },
      ]),
      says: { 'X-Hit': 'ignored; reason=invalid_request' },
    },
  },
} as const satisfies Operation
