import type { Config } from '../config/config.ts'
import type { CounterType } from '../config/counter-types.ts'
import { DAY_MS, dayText, startOf } from '../counters/calendar.ts'
import { MAX_PENDING, MAX_PUBLIC_PENDING } from '../counters/counters-sql.ts'
import { type HistoryRange, type HistoryUnit, historyRange, periodAt } from '../counters/history/history-range.ts'
import { type AskedHistory, countsOf, readCounterHistory, readSumHistory } from '../counters/history/read-history.ts'
import { countRows } from '../counters/history/rows-sql.ts'
import { selectionsOf } from '../counters/history/selection.ts'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import { checkPrefix, type KeysWithPrefix, MAX_PUBLIC_ROWS, ROWS_OF_KEY } from '../counters/keys/prefix.ts'
import { MAX_LANES } from '../counters/ranges.ts'
import type { Caller } from './caller.ts'
import { readForAll, readKept, saidOf } from './read.ts'

/** The range of a history, as `historyRange` reads it. */
interface HistoryQuery {
  by: HistoryUnit
  from?: string | undefined
  to?: string | undefined
  tz: string
}

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
  const { rows, ...asked } = askedRows(caller, range)
  const mostPending = (await caller.hasToken()) ? MAX_PENDING : MAX_PUBLIC_PENDING
  const read = async () => {
    const history = await readCounterHistory(caller.db, counter, asked, betweenOf(range), mostPending)
    const exact = history.pending !== null || periodAt(range, now.getTime()) === undefined
    return {
      ...periodsAnswer(range, countsOf(range, history, now.getTime())),
      adjustments: history.adjustments.map(({ at, kind, count }) => ({ at: at.toISOString(), kind, count })),
      consistency: exact ? ('exact' as const) : ('rolled' as const),
    }
  }
  const isLong = rows > MOST_ROWS_OF_COUNTER
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
  const of = { recordType, name: prefix ?? '' }
  const { rows, ...asked } = askedRows(caller, range)
  const hasToken = await caller.hasToken()
  const read = async () => {
    await checkSum(caller, of, asked, hasToken)
    return periodsAnswer(range, countsOf(range, await readSumHistory(caller.db, of, asked), now.getTime()))
  }
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
  const { rows: _, ...asked } = askedRows(caller, range)
  const read = async () => {
    const ofCounter = () =>
      readCounterHistory(caller.db, of as CounterAddress, asked, betweenOf(range), MAX_PUBLIC_PENDING)
    const ofSum = async (prefix: string | null) => {
      const sum = { recordType, name: prefix ?? '' }
      await checkSum(caller, sum, asked, false)
      return readSumHistory(caller.db, sum, asked)
    }
    return countsOf(range, 'prefix' in of ? await ofSum(of.prefix) : await ofCounter(), now.getTime())
  }
  const about = 'prefix' in of ? [recordType, of.prefix] : [counterId(of)]
  const { value } = await readForAll(caller, ['chart', ...questionOf(range), ...about], CHART_KEPT_MS, read)
  return { starts: range.edges.slice(0, -1), counts: value }
}

function askedRange({ by, from, to, tz }: HistoryQuery, now: Date): HistoryRange {
  return historyRange({ by, timeZone: tz, from, to }, now)
}

/** What to read for a range. `rows`: the most of each key */
function askedRows({ isolate }: Caller, range: HistoryRange): AskedHistory & { rows: number } {
  const [selections, hoursFrom] = [selectionsOf(range), firstHour(isolate.config)]
  return { selections, hoursFrom, rows: countRows(selections, hoursFrom) }
}

/** The first hour that is read, in milliseconds since 1970. Of those that are about to expire, only the day before. */
export function firstHour({ mayExpire, history }: Config): number {
  if (!mayExpire) return 0
  return startOf('day', new Date(Date.now() - (history.hourDays + 1) * DAY_MS)).getTime()
}

/** Few counters have something in every hour, so for callers with a token only days and months count. @throws {TooManyKeys} */
async function checkSum(
  { db }: Caller,
  of: KeysWithPrefix,
  { selections, hoursFrom }: AskedHistory,
  hasToken: boolean,
) {
  if (of.name === '') return
  const rows = countRows(selections, hasToken ? Number.POSITIVE_INFINITY : hoursFrom)
  await checkPrefix(db, of, hasToken ? { rows } : { rows: 2 * rows + ROWS_OF_KEY, maxRows: MAX_PUBLIC_ROWS })
}

const betweenOf = ({ edges }: HistoryRange) => ({ from: edges[0]!, to: edges.at(-1)! })

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
