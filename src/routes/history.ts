import * as z from 'zod/mini'
import {
  DEFAULT_POINTS,
  HISTORY_UNITS,
  type HistoryRange,
  historyRange,
  MAX_POINTS,
} from '../counters/history/range.ts'
import {
  type CounterHistory,
  readCounterHistory,
  readPrefixHistory,
  readTypeHistory,
} from '../counters/history/read-history.ts'
import { totalOf } from '../counters/history/read-total.ts'
import { mostRows, sourcesOf } from '../counters/history/sum-periods.ts'
import { counterId } from '../counters/keys/counter-address.ts'
import { MAX_PUBLIC_ROWS, ROWS_OF_KEY } from '../counters/keys/prefix.ts'
import { ADJUSTMENT_KINDS } from '../counters/ledger/record-adjustments.ts'
import { MAX_PUBLIC_PENDING } from '../counters/pending-slots-sql.ts'
import { MAX_LANES } from '../counters/ranges.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { askedPrefix } from '../http/asked-prefix.ts'
import { isAuthorized } from '../http/authorization.ts'
import { databaseOf } from '../http/database-of.ts'
import { publicReading } from '../http/endpoint.ts'
import { once } from '../http/query-string.ts'
import { readKept } from '../http/read-for-request.ts'
import { isolateOf } from '../isolate.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { COUNTER_PARAMS, count, described, instant, namedObject, typeParam } from '../openapi/described.ts'
import { DATABASE, exampleInvalid } from '../openapi/problem-schema.ts'
import { choice, prefixField } from './request-fields.ts'

const TIME_RULE =
  'must be a date such as 2026-11-01, or a date and time with its offset such as 2026-11-01T08:00:00Z (in a URL, + is written %2B)'

const time = () => z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: TIME_RULE })

const historyQuery = () => ({
  by: once(z._default(choice(HISTORY_UNITS), 'day'), 'The length of a period.'),
  from: once(
    z.optional(time()),
    `The start of the first period: a date in the time zone, or a date and time. By default, the range covers ${DEFAULT_POINTS.hour} hours, ${DEFAULT_POINTS.day} days or ${DEFAULT_POINTS.month} months.`,
  ),
  to: once(z.optional(time()), 'The end of the range, exclusive. By default, the current period is the last one.'),
  tz: once(z._default(z.string(), 'UTC'), 'The time zone in which days and months begin, such as `Europe/Berlin`.'),
})

type HistoryQuery = z.output<z.ZodMiniObject<ReturnType<typeof historyQuery>>>

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
  query: historyQuery,
} as const satisfies Route

const historyOfCounterContract = /* @__PURE__ */ documented(historyOfCounter, () => ({
  id: 'history',
  tag: 'Reading',
  summary: 'Get the history of a counter',
  description: `Returns counts by hour, day or month of a time zone, for up to ${MAX_POINTS} periods. Counts that are not rolled up yet belong to the current period. Without a token, they are left out if there are very many, and a long history may be ten seconds old.`,
  answers: {
    200: {
      description: 'The counts of the periods, and the adjustments.',
      schema: namedObject('History', {
        type: z.string(),
        key: z.string(),
        ...points(),
        adjustments: described(
          z.array(z.strictObject({ at: instant, kind: z.enum(ADJUSTMENT_KINDS), count })),
          'Changes that were set or imported, not counted.',
        ),
        consistency: described(z.enum(['exact', 'rolled']), '`rolled`: what is not rolled up yet is left out.'),
      }),
    },
  },
  problems: [...DATABASE],
  examples: {
    days: {
      summary: 'Two days in Berlin',
      params: { type: 'page_view', key: '/never' },
      query: TWO_DAYS,
      answer: { type: 'page_view', key: '/never', ...EMPTY_DAYS, adjustments: [], consistency: 'exact' },
    },
    backwards: {
      summary: 'A range that ends before it begins',
      params: { type: 'page_view', key: '/never' },
      query: { from: '2026-11-02', to: '2026-11-01' },
      status: 422,
      answer: exampleInvalid('to', 'must be after "from"'),
    },
  },
}))

const historyOfType = {
  method: 'get',
  path: '/v1/types/{type}/history',
  access: 'read-unless-public',
  params: { type: typeParam },
  query: () => ({ ...historyQuery(), prefix: prefixField() }),
} as const satisfies Route

const historyOfTypeContract = /* @__PURE__ */ documented(historyOfType, () => ({
  id: 'typeHistory',
  tag: 'Reading',
  summary: 'Get the history of a type',
  description:
    'The sum over all counters of the type, or over those whose keys begin with a prefix, as of the last roll-up.',
  answers: {
    200: {
      description: 'The counts of the periods.',
      schema: namedObject('TypeHistory', { type: z.string(), ...points() }),
    },
  },
  problems: ['too_many_keys', ...DATABASE],
  examples: {
    days: {
      summary: 'Two days in Berlin',
      params: { type: 'page_view' },
      query: TWO_DAYS,
      answer: { type: 'page_view', ...EMPTY_DAYS },
    },
  },
}))

/** Rows above which strangers share a history. Of a counter, there are also the slots. */
const MOST_ROWS = 5_000
const MOST_ROWS_OF_COUNTER = 900
/** Seconds for which a range in the past may be cached. Not longer, because an import may still add to it. */
const PAST_MAX_AGE = 300
/** Milliseconds after which a range is in the past: every roll-up that began within it has ended. */
const OVER_MS = 900_000

/** What was counted when, of one counter. */
export const counterHistory = publicReading<typeof historyOfCounterContract>(
  historyOfCounter,
  async (c, { type, key, counter, query }) => {
    const now = new Date()
    const range = askedRange(query, now)
    const { hourDays } = isolateOf(c.env).config.history
    const mostPending = (await isAuthorized(c)) ? null : MAX_PUBLIC_PENDING
    const read = async () => {
      const history = await readCounterHistory(databaseOf(c), counter, range, now, mostPending)
      return historyAnswer(range, history, toJsonNumber)
    }
    const isLong = mostRows(sourcesOf(range), hourDays) > MOST_ROWS_OF_COUNTER
    const history = isLong
      ? await readKept(c, ['history', ...questionOf(range), counterId(counter)], read)
      : await read()
    return { answer: { type: type.name, key, ...history }, maxAge: maxAgeOf(range, now) }
  },
)

/** What was counted when, of all counters of a type together, or of those whose keys begin with a prefix. */
export const typeHistory = publicReading<typeof historyOfTypeContract>(historyOfType, async (c, { type, query }) => {
  const now = new Date()
  const range = askedRange(query, now)
  const prefix = await askedPrefix(c, type, query.prefix)
  const db = databaseOf(c)
  const of = await totalOf(type.recordType, prefix)
  const { history: kept, ranges } = isolateOf(c.env).config
  const rows = mostRows(sourcesOf(range), kept.hourDays)
  const limit = (await isAuthorized(c)) ? undefined : { rows: rows + ROWS_OF_KEY, maxRows: MAX_PUBLIC_ROWS }
  const read = async () => {
    const counts = await (prefix === null
      ? readTypeHistory(db, type.recordType, range)
      : readPrefixHistory(db, of, range, limit))
    return toAnswer(range, counts, toJsonNumber)
  }
  const history =
    prefix !== null || rows * MAX_LANES * ranges > MOST_ROWS
      ? await readKept(c, ['history', ...questionOf(range), type.recordType, prefix], read)
      : await read()
  return { answer: { type: type.name, ...history }, maxAge: maxAgeOf(range, now) }
})

/** The range that a query asks for. */
export function askedRange({ by, from, to, tz }: HistoryQuery, now: Date): HistoryRange {
  return historyRange({ by, timeZone: tz, from, to }, now)
}

/** What tells a range from others. */
function questionOf({ by, zone, edges }: HistoryRange) {
  return [by, zone.name, edges[0]!, edges.at(-1)!]
}

/** What is answered about the history of a counter. */
export function historyAnswer<Count>(
  range: HistoryRange,
  { counts, adjustments, exact }: CounterHistory,
  toCount: (count: bigint) => Count,
) {
  return {
    ...toAnswer(range, counts, toCount),
    adjustments: adjustments.map(({ at, kind, count }) => ({ at: at.toISOString(), kind, count: toCount(count) })),
    consistency: exact ? ('exact' as const) : ('rolled' as const),
  }
}

function toAnswer<Count>(
  { by, zone, edges }: HistoryRange,
  counts: readonly bigint[],
  toCount: (count: bigint) => Count,
) {
  const times = edges.map((edge) => zone.clockTime(edge))
  const points = counts.map((count, index) => ({ start: times[index]!, count: toCount(count) }))
  return { by, timeZone: zone.name, from: times[0]!, to: times.at(-1)!, points }
}

function maxAgeOf({ edges }: HistoryRange, now: Date): number | null {
  return edges.at(-1)! < now.getTime() - OVER_MS ? PAST_MAX_AGE : null
}
