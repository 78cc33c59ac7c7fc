import type { Config } from '../config/config.ts'
import type { CounterType } from '../config/counter-types.ts'
import { DAY_MS, dayText, startOf } from '../counters/calendar.ts'
import { type CounterAddress, counterId } from '../counters/counter-address.ts'
import { MAX_PENDING, MAX_PUBLIC_PENDING } from '../counters/counters-sql.ts'
import { type AskedRange, type HistoryRange, historyRange, periodAt } from '../counters/history/history-range.ts'
import { countsOf, type HistoryRows, readCounterHistory } from '../counters/history/read-history.ts'
import { countRows } from '../counters/history/rows-sql.ts'
import { selectionsOf } from '../counters/history/selection.ts'
import { checkKeys, MAX_PUBLIC_ROWS, ROWS_OF_KEY } from '../counters/keys/prefix.ts'
import { MAX_LANES } from '../counters/ranges.ts'
import type { Question } from '../counters/read/kept-answers.ts'
import { readSumHistory } from '../counters/read/read-sum.ts'
import type { Caller } from './caller.ts'
import { type AskedCounter, consistencyFields, readForAll, readKept } from './read.ts'

type HistoryQuery = Omit<AskedRange, 'timeZone'> & { tz: string }

/** Rows above which callers without a token share a history. A counter has its slots too. */
const MOST_ROWS = 5_000
const MOST_ROWS_OF_COUNTER = 900
/** Seconds for which a past range may be cached. An import may still add to it. */
const PAST_MAX_AGE = 300
/** Milliseconds after which a range is past: every roll-up that began in it has ended. */
export const OVER_MS = 900_000

/** The answer with the history of a counter, and the seconds for which it may be cached. */
export async function counterHistoryAnswer({ caller, type, key, counter }: AskedCounter, query: HistoryQuery) {
  const asked = askedRows(caller, query)
  const mostPending = (await caller.hasToken()) ? MAX_PENDING : MAX_PUBLIC_PENDING
  const isLong = asked.rows > MOST_ROWS_OF_COUNTER
  return keptAnswer(caller, asked, isLong ? [counterId(counter)] : null, async () => {
    const history = await readCounterHistory(caller.db, counter, asked, asked.between, mostPending)
    const exact = history.pending !== null || periodAt(asked.range, asked.now) === undefined
    const adjustments = history.adjustments.map(({ at, kind, count }) => ({ at: at.toISOString(), kind, count }))
    const fields = { type: type.name, key, ...periodsAnswer(asked, history), adjustments }
    return { fields, consistency: exact ? ('exact' as const) : ('rolled' as const) }
  })
}

/** The same of the sum of a type, or of a prefix. @throws {TooManyKeys} */
export async function typeHistoryAnswer(caller: Caller, type: CounterType, prefix: string | null, query: HistoryQuery) {
  const { name, recordType } = type
  const asked = askedRows(caller, query)
  const hasToken = await caller.hasToken()
  const isLong = prefix !== null || asked.rows * MAX_LANES * caller.isolate.config.ranges > MOST_ROWS
  return keptAnswer(caller, asked, isLong ? [recordType, prefix] : null, async () => {
    const history = await readSum(caller, recordType, prefix, asked, hasToken)
    return { fields: { type: name, ...periodsAnswer(asked, history) }, consistency: 'rolled' as const }
  })
}

/** @param about what is asked for, beside the range; `null`: it takes few rows */
async function keptAnswer<Fields extends object, Read extends string>(
  caller: Caller,
  { range, now }: Asked,
  about: Question | null,
  read: () => Promise<{ fields: Fields; consistency: Read }>,
) {
  const question = about && ['history', ...questionOf(range), ...about]
  const { value, asOf } = await readKept(caller, question, read)
  const maxAge = range.edges.at(-1)! < now - OVER_MS ? PAST_MAX_AGE : null
  return { answer: { ...value.fields, ...consistencyFields(value.consistency, asOf) }, maxAge }
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

/** The counts of a chart, which all callers share for a minute; of a type or prefix, as of the last roll-up. @throws {TooManyKeys} */
export async function chartHistory(
  caller: Caller,
  { recordType }: CounterType,
  of: CounterAddress | { prefix: string | null },
  period: ChartPeriod,
): Promise<{ starts: readonly number[]; counts: readonly bigint[] }> {
  const { by, points } = CHART_PERIODS[period]
  // By default, months are twelve.
  const from = by === 'month' ? undefined : dayText(Date.now() - (points - 1) * DAY_MS)
  const asked = askedRows(caller, { by, from, tz: 'UTC' })
  const { range, between, selections, now } = asked
  const read = async () => {
    const rows =
      'prefix' in of
        ? await readSum(caller, recordType, of.prefix, asked, false)
        : await readCounterHistory(caller.db, of, asked, between, MAX_PUBLIC_PENDING)
    return countsOf(range, selections, rows, now)
  }
  const about = 'prefix' in of ? [recordType, of.prefix] : [counterId(of)]
  const { value } = await readForAll(caller, ['chart', ...questionOf(range), ...about], CHART_KEPT_MS, read)
  return { starts: range.edges.slice(0, -1), counts: value }
}

type Asked = ReturnType<typeof askedRows>

/** The range of a query, and what to read for it. `rows`: the most of each key */
function askedRows({ isolate }: Caller, { tz, ...query }: HistoryQuery) {
  const now = new Date()
  const range = historyRange({ ...query, timeZone: tz }, now)
  const [selections, hoursFrom] = [selectionsOf(range), firstHour(isolate.config)]
  const between = { from: range.edges[0]!, to: range.edges.at(-1)! }
  return { now: now.getTime(), range, between, selections, hoursFrom, rows: countRows(selections, hoursFrom) }
}

/** The first hour that is read, in milliseconds since 1970. Of those that are about to expire, only the day before. */
export function firstHour({ mayExpire, history }: Config): number {
  if (!mayExpire) return 0
  return startOf('day', new Date(Date.now() - (history.hourDays + 1) * DAY_MS)).getTime()
}

/** Few counters have something in every hour, so for callers with a token only days and months count. @throws {TooManyKeys} */
async function readSum({ db }: Caller, recordType: number, prefix: string | null, asked: Asked, hasToken: boolean) {
  const of = { recordType, name: prefix ?? '' }
  if (prefix !== null) {
    const rows = countRows(asked.selections, hasToken ? Number.POSITIVE_INFINITY : asked.hoursFrom)
    await checkKeys(db, of, hasToken ? { rows } : { rows: 2 * rows + ROWS_OF_KEY, maxRows: MAX_PUBLIC_ROWS })
  }
  return readSumHistory(db, of, asked)
}

function questionOf({ by, zone, edges }: HistoryRange) {
  return [by, zone.name, edges[0]!, edges.at(-1)!]
}

function periodsAnswer({ range, selections, now }: Asked, history: HistoryRows) {
  const { by, zone, edges } = range
  const times = edges.map((edge) => zone.clockTime(edge))
  const points = countsOf(range, selections, history, now).map((count, index) => ({ start: times[index]!, count }))
  return { by, timeZone: zone.name, from: times[0]!, to: times.at(-1)!, points }
}
