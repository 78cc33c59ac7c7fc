import * as z from 'zod'
import { typeParam } from '../openapi/fields.ts'
import { IMPORT_KEY } from '../openapi/headers.ts'
import type { Operation } from '../openapi/operation.ts'
import { ADJUSTING, exampleProblem } from '../openapi/problems.ts'
import { importedCountField, keyField, typeField } from './fields.ts'

/** Most rows one request may carry. */
const MAX_ROWS = 1_000

/** What a row's day must be. */
export const DAY_RULE = 'must be a day such as "2026-11-01", from 1970-01-01 to today (UTC)'
const LENGTH_RULE = `must be a list of 1 to ${MAX_ROWS} counters`

const row = z
  .strictObject(
    {
      type: typeField.describe(typeParam.description!),
      key: keyField.describe('The key, as it is.'),
      count: importedCountField.describe('What to add; beyond 2^53 its digits, in quotation marks.'),
      day: z.iso.date({ error: DAY_RULE }).optional().describe('The day of the history on which it was counted (UTC).'),
    },
    { error: 'must be an object' },
  )
  .meta({ id: 'ImportedCount' })

export const addImport = {
  id: 'import',
  tag: 'Changing',
  method: 'post',
  path: '/v1/imports',
  summary: 'Add numbers that were counted elsewhere',
  description: `Up to ${MAX_ROWS} counters: all of them or none.`,
  access: 'token',
  query: {},
  headers: IMPORT_KEY,
  body: {
    schema: z.strictObject(
      { counters: z.array(row, { error: LENGTH_RULE }).min(1, LENGTH_RULE).max(MAX_ROWS, LENGTH_RULE) },
      { error: 'must be an object with counters' },
    ),
  },
  answers: {
    200: {
      description: 'Added: now, or when the request came first.',
      headers: ['Idempotent-Replayed'],
      schema: z.strictObject({ imported: z.int().describe('How many rows that were.') }).meta({ id: 'Imported' }),
    },
  },
  problems: [
    'malformed_body',
    'malformed_query',
    'unauthorized',
    'body_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...ADJUSTING,
  ],
  examples: {
    oneDay: {
      summary: 'A day, and a number without one',
      headers: { 'Idempotency-Key': 'old-counter-part-1' },
      body: {
        counters: [
          { type: 'page_view', key: '/about', count: 120, day: '2026-11-01' },
          { type: 'download', key: 'app.tgz', count: 4711 },
        ],
      },
      answer: { imported: 2 },
    },
    again: {
      summary: 'The same request once more',
      headers: { 'Idempotency-Key': 'old-counter-part-1' },
      body: {
        counters: [
          { type: 'page_view', key: '/about', count: 120, day: '2026-11-01' },
          { type: 'download', key: 'app.tgz', count: 4711 },
        ],
      },
      answer: { imported: 2 },
      says: { 'Idempotent-Replayed': 'true' },
    },
    tomorrow: {
      summary: 'A day that has not come',
      headers: { 'Idempotency-Key': 'old-counter-part-2' },
      body: { counters: [{ type: 'page_view', key: '/about', count: 120, day: '9999-12-31' }] },
      status: 422,
      answer: exampleProblem('invalid_request', `counters.0.day ${DAY_RULE}.`, [
        { field: 'counters.0.day', message: DAY_RULE },
      ]),
    },
  },
} as const satisfies Operation
