import * as z from 'zod'
import { count, typeParam } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE } from '../openapi/problems.ts'
import { once } from '../query.ts'
import { AFTER_DESCRIPTION, AFTER_RULE, limitField, nextField } from './fields.ts'

const MAX_LIMIT = 1_000

/** The record id of the last counter, in hexadecimal. Nothing for clients to rely on. */
const after = z
  .string({ error: AFTER_RULE })
  .regex(/^[0-9a-f]{1,16}$/, AFTER_RULE)
  .transform((text) => BigInt(`0x${text}`))

export const exportCounts = {
  id: 'export',
  tag: 'Reading',
  method: 'get',
  path: '/v1/export/{type}',
  summary: 'Everything that was counted, page by page',
  description:
    'All counters of a type, or all their days, in an order of their own. A page is exact at the instant at which it is read; what is ' +
    'counted while pages are read may be in a later one or not.',
  access: 'token',
  params: { type: typeParam },
  query: {
    after: once(after.optional().describe(AFTER_DESCRIPTION)),
    limit: once(
      limitField(
        MAX_LIMIT,
        MAX_LIMIT,
        'Rows on a page, which by day ends with the counter in which that many are reached',
      ),
    ),
    by: once(
      z
        .enum(['total', 'day'], { error: 'must be "total" (the default) or "day"' })
        .default('total')
        .describe('Whether a row is a counter or one day of it.'),
    ),
  },
  answers: {
    200: {
      description: 'A page.',
      schema: z
        .strictObject({
          rows: z.array(
            z.strictObject({
              key: z.string().nullable().describe('null: the name of this counter is not stored yet.'),
              recordId: z.string().optional().describe('The number that stands for it then.'),
              count,
              day: z.iso.date().optional().describe('In UTC; by day, rows without one are what belongs to no day.'),
            }),
          ),
          next: nextField,
        })
        .meta({ id: 'ExportPage' }),
    },
  },
  problems: ['malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...DATABASE],
  examples: {
    firstPage: {
      summary: 'The first page',
      params: { type: 'download' },
      query: { limit: '100' },
      answer: { rows: [{ key: 'app-1.2.0.tgz', count: 5 }], next: null },
    },
  },
} as const satisfies Operation
