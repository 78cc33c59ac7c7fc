import * as z from 'zod'
import { ADJUSTMENT_KINDS } from '../counters/adjustments.ts'
import { DEFAULT_POINTS, HISTORY_UNITS, MAX_POINTS } from '../counters/history-range.ts'
import { COUNTER_PARAMS, count, instant, typeParam } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE, exampleProblem } from '../openapi/problems.ts'
import { once } from '../query.ts'

const TIME_RULE =
  'must be a date such as 2026-11-01, or a date and time with its offset such as 2026-11-01T08:00:00Z (in a URL, + is written %2B)'
const BY_RULE = `must be one of ${HISTORY_UNITS.join(', ')}`

const time = z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: TIME_RULE })

const historyQuery = {
  by: once(z.enum(HISTORY_UNITS, { error: BY_RULE }).default('day').describe('How long one point is.')),
  from: once(
    time
      .optional()
      .describe(
        `Where the first point begins: a date in the time zone, or a point in time. Without it, there are ${DEFAULT_POINTS.hour} hours, ${DEFAULT_POINTS.day} days or ${DEFAULT_POINTS.month} months.`,
      ),
  ),
  to: once(time.optional().describe('Where it ends, exclusive; without it, the present period is the last one.')),
  tz: once(
    z.string().default('UTC').describe('The time zone in which days and months begin, such as `Europe/Berlin`.'),
  ),
}

const clock = z.iso.datetime({ offset: true })
const points = {
  by: z.enum(HISTORY_UNITS),
  timeZone: z.string(),
  from: clock,
  to: clock.describe('Exclusive.'),
  points: z
    .array(z.strictObject({ start: clock, count }))
    .describe('All periods of the range, those in which nothing was counted too.'),
}

const EMPTY_DAYS = {
  by: 'day',
  timeZone: 'Europe/Berlin',
  from: '2026-11-01T00:00:00+01:00',
  to: '2026-11-03T00:00:00+01:00',
  points: [
    { start: '2026-11-01T00:00:00+01:00', count: 0 },
    { start: '2026-11-02T00:00:00+01:00', count: 0 },
  ],
}
const TWO_DAYS = { from: '2026-11-01', to: '2026-11-03', tz: 'Europe/Berlin' }

export const historyOfCounter = {
  id: 'history',
  tag: 'Reading',
  method: 'get',
  path: '/v1/counters/{type}/{key}/history',
  summary: 'What was counted when',
  description: `By hour, day or month of a time zone, up to ${MAX_POINTS} periods. What is not rolled up yet belongs to the present period.`,
  access: 'token-unless-public',
  params: COUNTER_PARAMS,
  query: historyQuery,
  answers: {
    200: {
      description: 'The points, and what was set or imported.',
      schema: z
        .strictObject({
          type: z.string(),
          key: z.string(),
          ...points,
          adjustments: z
            .array(z.strictObject({ at: instant, kind: z.enum(ADJUSTMENT_KINDS), count }))
            .describe('Changes of the count that were no counting.'),
        })
        .meta({ id: 'History' }),
    },
  },
  revalidated: true,
  problems: ['malformed_key', 'malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...DATABASE],
  examples: {
    days: {
      summary: 'Two days in Berlin',
      params: { type: 'page_view', key: '/never' },
      query: TWO_DAYS,
      answer: { type: 'page_view', key: '/never', ...EMPTY_DAYS, adjustments: [] },
    },
    backwards: {
      summary: 'A range that ends before it begins',
      params: { type: 'page_view', key: '/never' },
      query: { from: '2026-11-02', to: '2026-11-01' },
      status: 422,
      answer: exampleProblem('invalid_request', 'to must be after "from".', [
        { field: 'to', message: 'must be after "from"' },
      ]),
    },
  },
} as const satisfies Operation

export const historyOfType = {
  id: 'typeHistory',
  tag: 'Reading',
  method: 'get',
  path: '/v1/types/{type}/history',
  summary: 'What was counted when, of all counters of a type',
  description: 'The same for all of them together, as of the last roll-up.',
  access: 'token-unless-public',
  params: { type: typeParam },
  query: historyQuery,
  answers: {
    200: {
      description: 'The points.',
      schema: z.strictObject({ type: z.string(), ...points }).meta({ id: 'TypeHistory' }),
    },
  },
  revalidated: true,
  problems: ['malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...DATABASE],
  examples: {
    days: {
      summary: 'Two days in Berlin',
      params: { type: 'page_view' },
      query: TWO_DAYS,
      answer: { type: 'page_view', ...EMPTY_DAYS },
    },
  },
} as const satisfies Operation
