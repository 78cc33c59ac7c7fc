import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { DAY_MS, dayText } from '../counters/calendar.ts'
import { MAX_PENDING, MAX_PUBLIC_PENDING } from '../counters/counters-sql.ts'
import {
  DEFAULT_POINTS,
  HISTORY_UNITS,
  type HistoryRange,
  historyRange,
  TIME_RULE,
} from '../counters/history/history-range.ts'
import { readCounterHistory, readSumHistory } from '../counters/history/read-history.ts'
import { sumOf } from '../counters/history/read-sum.ts'
import { mostRows, sourcesOf } from '../counters/history/sum-periods.ts'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import { MAX_PUBLIC_ROWS, ROWS_OF_KEY } from '../counters/keys/prefix.ts'
import { MAX_LANES } from '../counters/ranges.ts'
import { described, instant } from '../openapi/contract.ts'
import type { Caller } from './caller.ts'
import type { ParametersOf } from './check-input.ts'
import { readForAll, readKept, saidOf } from './read.ts'
import { choice, dateField } from './shared-fields.ts'

const time = () => v.union([dateField(TIME_RULE), instant], TIME_RULE)

export const historyQuery = () => ({
  by: described(v.optional(choice(HISTORY_UNITS), 'day'), 'The length of a period.'),
  from: described(
    v.optional(time()),
    `The start of the first period: a date in the time zone, or a date and time. By default, the range covers ${DEFAULT_POINTS.hour} hours, ${DEFAULT_POINTS.day} days, ${DEFAULT_POINTS.week} weeks or ${DEFAULT_POINTS.month} months.`,
  ),
  to: described(v.optional(time()), 'The end of the range, exclusive. By default, the current period is the last one.'),
  tz: described(
    v.optional(v.string(), 'UTC'),
    'The time zone in which days, weeks and months begin, such as `Europe/Berlin`.',
  ),
})

type HistoryQuery = ParametersOf<typeof historyQuery>

/** Rows above which callers without a token share a history. A counter has its slots too. */
const MOST_ROWS = 5_000
const MOST_ROWS_OF_COUNTER = 900
/** Seconds for which a past range may be cached. An import may still add to it. */
const PAST_MAX_AGE = 300
/** Milliseconds after which a range is past: every roll-up that began in it has ended. */
const OVER_MS = 900_000

/** The periods of a history with their counts. */
export type HistoryAnswer = Awaited<ReturnType<typeof counterHistory>>['history']

/** The history of a counter, and for how many seconds it may be cached. */
export async function counterHistory(caller: Caller, counter: CounterAddress, query: HistoryQuery) {
  const now = new Date()
  const range = askedRange(query, now)
  const mostPending = (await caller.hasToken()) ? MAX_PENDING : MAX_PUBLIC_PENDING
  const read = async () => {
    const { counts, adjustments, exact } = await readCounterHistory(caller.db, counter, range, now, mostPending)
    return {
      ...periodsAnswer(range, counts),
      adjustments: adjustments.map(({ at, kind, count }) => ({ at: at.toISOString(), kind, count })),
      consistency: exact ? ('exact' as const) : ('rolled' as const),
    }
  }
  const isLong = rowsOf(caller, range) > MOST_ROWS_OF_COUNTER
  const question = ['history', ...questionOf(range), counterId(counter)]
  const { value, asOf } = await readKept(caller, isLong ? question : null, read)
  return { history: { ...value, ...saidOf(value.consistency, asOf) }, maxAge: maxAgeOf(range, now) }
}

/** The history of the sum of a type, or of a prefix. */
export async function typeHistory(
  caller: Caller,
  { recordType }: CounterType,
  prefix: string | null,
  query: HistoryQuery,
) {
  const now = new Date()
  const range = askedRange(query, now)
  const of = await sumOf(recordType, prefix)
  const rows = rowsOf(caller, range)
  const limit = (await caller.hasToken()) ? undefined : { rows: rows + ROWS_OF_KEY, maxRows: MAX_PUBLIC_ROWS }
  const read = async () => periodsAnswer(range, await readSumHistory(caller.db, of, range, limit))
  const isLong = prefix !== null || rows * MAX_LANES * caller.isolate.config.ranges > MOST_ROWS
  const question = ['history', ...questionOf(range), recordType, prefix]
  const { value, asOf } = await readKept(caller, isLong ? question : null, read)
  return { history: { ...value, ...saidOf('rolled', asOf) }, maxAge: maxAgeOf(range, now) }
}

/** The periods of charts for everybody: whole days or months in UTC, the running one included. */
export const CHART_PERIODS = {
  '30d': { by: 'day', points: 30 },
  '90d': { by: 'day', points: 90 },
  '12m': { by: 'month', points: 12 },
} as const

export type ChartPeriod = keyof typeof CHART_PERIODS

/** Milliseconds for which everybody gets the same chart. */
const CHART_KEPT_MS = 60_000

/**
 * The counts of a chart, which all callers share for a minute: of a counter, or of a type or prefix as of the last roll-up.
 * @returns `starts`: when each day or month begins, in milliseconds since 1970 @throws {TooManyKeys}
 */
export async function chartHistory(
  caller: Caller,
  { recordType }: CounterType,
  of: CounterAddress | { prefix: string | null },
  period: ChartPeriod,
): Promise<{ starts: readonly number[]; counts: readonly bigint[] }> {
  const now = new Date()
  const { by, points } = CHART_PERIODS[period]
  // By default, months are twelve.
  const from = by === 'month' ? undefined : dayText(now.getTime() - (points - 1) * DAY_MS)
  const range = askedRange({ by, from, to: undefined, tz: 'UTC' }, now)
  const read = async () => {
    if (!('prefix' in of)) return (await readCounterHistory(caller.db, of, range, now, MAX_PUBLIC_PENDING)).counts
    const limit = { rows: rowsOf(caller, range) + ROWS_OF_KEY, maxRows: MAX_PUBLIC_ROWS }
    return readSumHistory(caller.db, await sumOf(recordType, of.prefix), range, limit)
  }
  const about = 'prefix' in of ? [recordType, of.prefix] : [counterId(of)]
  const { value } = await readForAll(caller, ['chart', ...questionOf(range), ...about], CHART_KEPT_MS, read)
  return { starts: range.edges.slice(0, -1), counts: value }
}

function askedRange({ by, from, to, tz }: HistoryQuery, now: Date): HistoryRange {
  return historyRange({ by, timeZone: tz, from, to }, now)
}

/** The most rows that a range has for each key. */
function rowsOf({ isolate }: Caller, range: HistoryRange): number {
  return mostRows(sourcesOf(range), isolate.config.history.hourDays)
}

function questionOf({ by, zone, edges }: HistoryRange) {
  return [by, zone.name, edges[0]!, edges.at(-1)!]
}

function periodsAnswer({ by, zone, edges }: HistoryRange, counts: readonly bigint[]) {
  const times = edges.map((edge) => zone.clockTime(edge))
  const points = counts.map((count, index) => ({ start: times[index]!, count }))
  return { by, timeZone: zone.name, from: times[0]!, to: times.at(-1)!, points }
}

function maxAgeOf({ edges }: HistoryRange, now: Date): number | null {
  return edges.at(-1)! < now.getTime() - OVER_MS ? PAST_MAX_AGE : null
}
