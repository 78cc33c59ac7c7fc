import * as z from 'zod/mini'
import { DEFAULT_POINTS, HISTORY_UNITS, MAX_POINTS } from '../counters/history/range.ts'
import { ADJUSTMENT_KINDS } from '../counters/ledger/record-adjustments.ts'
import { once } from '../http/query-string.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { onFirstUse } from '../openapi/on-first-use.ts'
import { DATABASE, exampleProblem, PUBLIC_READING } from '../openapi/problem-schema.ts'
import { COUNTER_PARAMS, count, instant, typeParam } from '../openapi/shared-schemas.ts'
import { prefixField } from './type-total-contract.ts'

const TIME_RULE =
  'must be a date such as 2026-11-01, or a date and time with its offset such as 2026-11-01T08:00:00Z (in a URL, + is written %2B)'
const BY_RULE = `must be one of ${HISTORY_UNITS.join(', ')}`

const time = () => z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: TIME_RULE })

const historyQuery = onFirstUse(() => ({
  by: once(described(z._default(z.enum(HISTORY_UNITS, { error: BY_RULE }), 'day'), 'The length of a period.')),
  from: once(
    described(
      z.optional(time()),
      `The start of the first period: a date in the time zone, or a date and time. By default, the range covers ${DEFAULT_POINTS.hour} hours, ${DEFAULT_POINTS.day} days or ${DEFAULT_POINTS.month} months.`,
    ),
  ),
  to: once(
    described(z.optional(time()), 'The end of the range, exclusive. By default, the current period is the last one.'),
  ),
  tz: once(
    described(z._default(z.string(), 'UTC'), 'The time zone in which days and months begin, such as `Europe/Berlin`.'),
  ),
}))

const typeHistoryQuery = onFirstUse(() => ({ ...historyQuery(), prefix: prefixField() }))

const clock = () => z.iso.datetime({ offset: true })
const points = () => ({
  by: z.enum(HISTORY_UNITS),
  timeZone: z.string(),
  from: clock(),
  to: described(clock(), 'Exclusive.'),
  points: described(
    z.array(z.strictObject({ start: clock(), count })),
    'All periods of the range, including those without counts.',
  ),
})

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
  method: 'get',
  path: '/v1/counters/{type}/{key}/history',
  access: 'read-unless-public',
  params: COUNTER_PARAMS,
  get query() {
    return historyQuery()
  },
} as const satisfies Route

export const historyOfCounterContract = /* @__PURE__ */ documented(historyOfCounter, () => ({
  id: 'history',
  tag: 'Reading',
  summary: 'Get the history of a counter',
  description: `Returns counts by hour, day or month of a time zone, for up to ${MAX_POINTS} periods. Counts that are not rolled up yet belong to the current period.`,
  answers: {
    200: {
      description: 'The counts of the periods, and the adjustments.',
      schema: described(
        z.strictObject({
          type: z.string(),
          key: z.string(),
          ...points(),
          adjustments: described(
            z.array(z.strictObject({ at: instant, kind: z.enum(ADJUSTMENT_KINDS), count })),
            'Changes that were set or imported, not counted.',
          ),
        }),
        { id: 'History' },
      ),
    },
  },
  revalidated: true,
  problems: ['malformed_key', ...PUBLIC_READING, ...DATABASE],
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
}))

export const historyOfType = {
  method: 'get',
  path: '/v1/types/{type}/history',
  access: 'read-unless-public',
  params: { type: typeParam },
  get query() {
    return typeHistoryQuery()
  },
} as const satisfies Route

export const historyOfTypeContract = /* @__PURE__ */ documented(historyOfType, () => ({
  id: 'typeHistory',
  tag: 'Reading',
  summary: 'Get the history of a type',
  description:
    'The sum over all counters of the type, or over those whose keys begin with a prefix, as of the last roll-up.',
  answers: {
    200: {
      description: 'The counts of the periods.',
      schema: described(z.strictObject({ type: z.string(), ...points() }), { id: 'TypeHistory' }),
    },
  },
  revalidated: true,
  problems: [...PUBLIC_READING, 'too_many_keys', ...DATABASE],
  examples: {
    days: {
      summary: 'Two days in Berlin',
      params: { type: 'page_view' },
      query: TWO_DAYS,
      answer: { type: 'page_view', ...EMPTY_DAYS },
    },
  },
}))
