import * as z from 'zod'
import { count, typeParam } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE } from '../openapi/problems.ts'
import { once } from '../query.ts'

const MAX_LIMIT = 1_000
const LIMIT_RULE = `must be a whole number from 1 to ${MAX_LIMIT}`
const AFTER_RULE = 'must be the "next" of the page before'

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
    'All counters of a type, or all their days, in an order of their own. What is counted meanwhile may be in it or not.',
  access: 'token',
  params: { type: typeParam },
  query: {
    after: once(after.optional().describe('The `next` of the page before.')),
    limit: once(
      z
        .string({ error: LIMIT_RULE })
        .regex(/^[1-9]\d{0,3}$/, LIMIT_RULE)
        .transform(Number)
        .refine((limit) => limit <= MAX_LIMIT, LIMIT_RULE)
        .default(MAX_LIMIT)
        .describe(`Counters on a page, at most ${MAX_LIMIT}.`),
    ),
    by: once(z.enum(['total', 'day'], { error: 'must be "total" (the default) or "day"' }).default('total')),
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
              day: z.iso.date().optional(),
            }),
          ),
          next: z.string().nullable().describe('`after` of the next page; null: this is the last one.'),
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
