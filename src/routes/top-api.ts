import * as z from 'zod'
import { MAX_TOP } from '../counters/top.ts'
import { count, instant, typeParam } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE, exampleProblem } from '../openapi/problems.ts'
import { once } from '../query.ts'
import { limitField } from './fields.ts'

const TOP_PERIODS = ['day', 'week', 'month', 'all'] as const
const PERIOD_RULE = `must be one of ${TOP_PERIODS.join(', ')}`
const DATE_RULE = 'must be a date such as 2026-11-20, in the years 1970 to 2100'

export const topCounters = {
  id: 'top',
  tag: 'Reading',
  method: 'get',
  path: '/v1/top/{type}',
  summary: 'The counters that were counted most',
  description: 'As of the last roll-up. Days, weeks (from Monday) and months are those of the calendar, in UTC.',
  access: 'token-unless-public',
  params: { type: typeParam },
  query: {
    period: once(z.enum(TOP_PERIODS, { error: PERIOD_RULE }).default('all').describe('In which period; `all`: ever.')),
    date: once(
      z.iso
        .date({ error: DATE_RULE })
        .refine((date) => /^(19[7-9]|20|2100)/.test(date), DATE_RULE)
        .optional()
        .describe('A day of the period that is meant, if it is not the present one.'),
    ),
    limit: once(limitField(MAX_TOP, 10, 'How many')),
  },
  answers: {
    200: {
      description: 'The counters, most counted first.',
      schema: z
        .strictObject({
          type: z.string(),
          period: z.enum(TOP_PERIODS),
          start: instant.nullable(),
          end: instant.nullable().describe('Exclusive.'),
          counters: z.array(z.strictObject({ key: z.string(), count })),
        })
        .meta({ id: 'Top' }),
    },
  },
  revalidated: true,
  problems: ['malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...DATABASE],
  examples: {
    january: {
      summary: 'A month long ago',
      params: { type: 'download' },
      query: { period: 'month', date: '2026-01-15', limit: '3' },
      answer: {
        type: 'download',
        period: 'month',
        start: '2026-01-01T00:00:00.000Z',
        end: '2026-02-01T00:00:00.000Z',
        counters: [],
      },
    },
    dateOfAll: {
      summary: 'A date without a period',
      params: { type: 'download' },
      query: { date: '2026-01-15' },
      status: 422,
      answer: exampleProblem('invalid_request', 'date chooses a day, week or month: give the period too.', [
        { field: 'date', message: 'chooses a day, week or month: give the period too' },
      ]),
    },
  },
} as const satisfies Operation
