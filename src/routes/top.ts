import * as z from 'zod/mini'
import { DAY_MS, monthsLater, startOf } from '../counters/calendar.ts'
import { MAX_TOP, readTop, type TopPeriod } from '../counters/read/top.ts'
import { toJsonNumber } from '../database/values.ts'
import { callerOf } from '../http/caller.ts'
import { publicReading } from '../http/endpoint.ts'
import { operation, route } from '../openapi/contract.ts'
import { count, described, instant, namedObject } from '../openapi/described.ts'
import { DATABASE, exampleInvalid } from '../openapi/problems.ts'
import { choice, limitField, once } from '../service/fields.ts'
import { invalidRequest } from '../service/problem.ts'

const TOP_PERIODS = ['day', 'week', 'month', 'all'] as const
const DATE_RULE = 'must be a date such as 2026-11-20, in the years 1970 to 2100'

const topCounters = route('get', '/v1/top/{type}', 'read-unless-public', {
  query: () => ({
    period: once(z._default(choice(TOP_PERIODS), 'all'), 'The period to rank; `all` is all time.'),
    date: once(
      z.optional(
        z.iso.date({ error: DATE_RULE }).check(z.refine((date) => /^(19[7-9]|20|2100)/.test(date), DATE_RULE)),
      ),
      'Any day in the period. Default: today.',
    ),
    limit: limitField(MAX_TOP, 10, 'Maximum number of counters'),
  }),
})

export const topCountersContract = () =>
  operation(topCounters, {
    id: 'top',
    tag: 'Reading',
    summary: 'Top counters',
    description:
      'Ranks the counters of a type by count, as of the last roll-up. Days, weeks (from Monday) and months are calendar periods in UTC.',
    answers: {
      200: {
        description: 'The counters, highest count first.',
        schema: namedObject('Top', {
          type: z.string(),
          period: z.enum(TOP_PERIODS),
          start: z.nullable(instant),
          end: described(z.nullable(instant), 'Exclusive.'),
          counters: z.array(z.strictObject({ key: z.string(), count })),
        }),
      },
    },
    problems: [...DATABASE],
    examples: {
      january: {
        summary: 'A past month',
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
        answer: exampleInvalid('date', 'needs a period: day, week or month'),
      },
    },
  })

/** Seconds for which a ranking may be cached. It is as of the last roll-up. */
const MAX_AGE = 30

export const top = publicReading<typeof topCountersContract>(
  topCounters,
  async (c, { type, query: { period, date, limit } }) => {
    const asked = askedPeriod(period, date, new Date())
    const counters = await readTop(callerOf(c).db, type, asked, limit)
    const answer = {
      type: type.name,
      period,
      ...bounds(asked),
      counters: counters.map(({ key, count }) => ({ key, count: toJsonNumber(count) })),
    }
    return { answer, maxAge: MAX_AGE }
  },
)

function askedPeriod(period: TopPeriod['period'], date: string | undefined, now: Date): TopPeriod {
  if (period !== 'all') return { period, start: startOf(period, date === undefined ? now : new Date(date)) }
  if (date === undefined) return { period }
  throw invalidRequest([{ field: 'date', message: 'needs a period: day, week or month' }])
}

function bounds(top: TopPeriod): { start: string | null; end: string | null } {
  if (top.period === 'all') return { start: null, end: null }
  const start = top.start.getTime()
  const end = top.period === 'month' ? monthsLater(start, 1) : start + (top.period === 'week' ? 7 : 1) * DAY_MS
  return { start: top.start.toISOString(), end: new Date(end).toISOString() }
}
