import type { Context } from 'hono'
import * as z from 'zod/mini'
import { shownCompanion } from '../config/companions.ts'
import type { Config } from '../config/config.ts'
import { type CounterType, pageOf } from '../config/counter-types.ts'
import type { Token } from '../config/tokens.ts'
import { DAY_MS, dayText } from '../counters/calendar.ts'
import { type ChosenPeriod, type Comparison, chosenPeriod, PERIOD_NAMES } from '../counters/history/comparison.ts'
import { type Compared, readCompared, readUnits, type Units } from '../counters/history/period-counts.ts'
import { MAX_RANKED, type Ranking, readPeriodCounts, readRanking } from '../counters/history/ranking.ts'
import { type HistoryReader, historyOfCounter, historyOfSum } from '../counters/history/read-history.ts'
import { readSum, type SumOf, sumOf } from '../counters/history/read-sum.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { checkPrefix, TooManyKeys } from '../counters/keys/prefix.ts'
import { countIn, readCounters } from '../counters/read/read-counters.ts'
import { findCounters } from '../counters/read/search.ts'
import { readTop } from '../counters/read/top.ts'
import type { Executor } from '../database/database.ts'
import { toJsonNumber } from '../database/values.ts'
import { authorize, checkTypes } from '../http/authorization.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv } from '../http/context.ts'
import { keepVisitorZone, visitorZone } from '../http/cookies.ts'
import { Hono } from '../http/hono.ts'
import { logFailure } from '../http/problem-response.ts'
import { readQuery } from '../http/query-string.ts'
import { revalidated } from '../http/reading.ts'
import { openConfigured } from '../isolate.ts'
import { limitField, once } from '../service/fields.ts'
import { configuredType, counterOfKey } from '../service/named-counters.ts'
import { Problem, problemOf } from '../service/problem.ts'
import type { IncludedNumbers } from '../views/dashboard/numbers.ts'

const DEFAULT_ROWS = 10
/** Milliseconds for which a page waits for the numbers that it comes with. */
const INCLUDED_DEADLINE_MS = 1_000
/** Days of which the figures are made: 30, and those since 35 days before. */
const FIGURE_DAYS = 65
const DATE = /^\d{4}-\d\d-\d\d$/

const numbersQuery = () => ({
  type: once(z.string()),
  key: once(z.optional(z.string())),
  period: once(z._default(z.enum(PERIOD_NAMES), '30d')),
  from: once(z.optional(z.string())),
  to: once(z.optional(z.string())),
  tz: once(z._default(z.string(), 'UTC')),
  find: once(z._default(z.string(), '')),
  rows: limitField(MAX_RANKED, DEFAULT_ROWS, 'Maximum number of rows of the list'),
})

/** What a page of the dashboard shows: `tz` is the visitor's, and `find` is the beginning of the keys in the list. */
export type AskedNumbers = Omit<z.output<z.ZodMiniObject<ReturnType<typeof numbersQuery>>>, 'type' | 'key'>

/** A page of the dashboard: of a type, or of the counter of a key. `types` are those that the visitor may see. */
interface Page {
  type: CounterType
  key?: string | undefined
  types: readonly CounterType[]
}

/** How numbers are read: what was asked for, from where, when, and by which settings. */
interface Source {
  db: Executor
  asked: AskedNumbers
  now: Date
  config: Config
}

/**
 * All numbers of a page of the dashboard in one answer. It has no contract: it changes with the pages, and programs have the API. It
 * holds no current time, so its `ETag` changes only when something is counted.
 */
export const numbers = new Hono<AppEnv>().get('/numbers', revalidated, async (c) => {
  await authorize(c, 'read')
  const { type: name, key, ...asked } = readQuery(c, numbersQuery)
  const type = configuredType(c.get('isolate'), name)
  if (type === undefined) throw new Problem('unknown_type', { detail: 'There is no such type.' })
  checkTypes(c, name)
  const answer = await pageNumbers(c, { type, key, types: typesOf(c, c.get('token')!) }, callerOf(c).db, asked)
  keepVisitorZone(c, asked.tz)
  return c.json(answer, 200, { 'Cache-Control': 'private, no-cache' })
})

/** The types that a token may see. */
export function typesOf(c: Context<AppEnv>, { types }: Token): CounterType[] {
  return [...c.get('isolate').config.types.values()].filter(({ name }) => types?.has(name) ?? true)
}

/**
 * The numbers in a page, by the query of its address and its visitor's last time zone. `null` if that is unknown, or if they cannot
 * be read soon: the page then asks for them, and reports the problem. It never fails.
 */
export async function includedNumbers(c: Context<AppEnv>, page: Page): Promise<IncludedNumbers | null> {
  const tz = visitorZone(c)
  if (tz === undefined) return null
  const { period: wanted, from, to, find = '' } = c.req.query()
  const custom = DATE.test(from ?? '') && DATE.test(to ?? '')
  const known = PERIOD_NAMES.find((name) => name === wanted && name !== 'custom') ?? '30d'
  const period = custom ? 'custom' : known
  // As the page's script writes it: `numbersQuery` in src/browser/dashboard/numbers.ts.
  const query = new URLSearchParams({
    type: page.type.name,
    ...(page.key !== undefined && { key: page.key }),
    period,
    tz,
    ...(custom && { from: from!, to: to! }),
    ...(find !== '' && { find }),
  }).toString()
  // An attempt without retries, which would keep the page from being seen at all.
  const db = openConfigured(c.get('isolate'), INCLUDED_DEADLINE_MS)
  try {
    const asked = { period, tz, find, rows: DEFAULT_ROWS, ...(custom && { from, to }) } as const
    return { query, numbers: await pageNumbers(c, page, db, asked) }
  } catch (error) {
    // The page has been sent in part, so it is too late for an error.
    const problem = problemOf(error)
    if (problem.code === 'internal_error') logFailure(c, problem)
    return null
  }
}

async function pageNumbers(c: Context<AppEnv>, { type, key, types }: Page, db: Executor, asked: AskedNumbers) {
  const { config, addresses } = c.get('isolate')
  const source = { db, asked, now: new Date(), config }
  const also = shownCompanion(type, types, key === undefined ? 'type' : 'counter')
  if (key === undefined) return typeNumbers(source, type, also)
  const read = async (of: CounterType, asked: AskedNumbers) =>
    counterNumbers({ ...source, asked }, await counterOfKey(addresses, of, key))
  const [own, other] = await Promise.all([read(type, asked), also && read(also, { ...asked, period: '30d' })])
  return { ...own, ...(other && { also: { figures: other.figures, total: other.total } }) }
}

/**
 * The numbers of a type's page, as of the last roll-up. They are about the prefix in the search, if the type lists it and it has
 * not too many keys.
 * @throws {InvalidInput} if the period or the time zone is not valid
 */
export async function typeNumbers(source: Source, type: CounterType, also: CounterType | undefined) {
  const period = periodOf(source)
  const of = await shownSum(source, type, period)
  const reading = readHistory(source, period, historyOfSum(source.db, of))
  const spans = reading.then(({ spans }) => spans)
  const [{ history }, total, list, alsoShown] = await Promise.all([
    reading,
    rolledTotal(source, of),
    readList(source, type, period, spans),
    also === undefined ? {} : alsoNumbers(source, also, of.name, period),
  ])
  return { ...history, prefix: of.name || null, total, ...alsoShown, list }
}

/** What the page adds up: all counters of the type, or those of a prefix, if they are few enough. */
async function shownSum(
  { db, asked: { find } }: Source,
  { recordType, prefixes }: CounterType,
  { range: { edges } }: ChosenPeriod,
): Promise<SumOf> {
  const all = await sumOf(recordType, null)
  if (!prefixes.includes(find)) return all
  const days = Math.max(FIGURE_DAYS, Math.ceil((edges.at(-1)! - edges[0]!) / DAY_MS))
  try {
    await checkPrefix(db, { recordType, name: find }, { rows: days })
    return await sumOf(recordType, find)
  } catch (error) {
    if (error instanceof TooManyKeys) return all
    throw error
  }
}

/** The numbers of a counter's page, pending counts included. @throws {InvalidInput} as `typeNumbers` */
async function counterNumbers(source: Source, counter: CounterAddress) {
  const period = periodOf(source)
  const [{ history, adjustments }, [reading]] = await Promise.all([
    readHistory(source, period, historyOfCounter(source.db, counter, hoursSince(source))),
    readCounters(source.db, [counter]),
  ])
  const { total, pending, rolledUpAt } = reading!
  return {
    ...history,
    total: toJsonNumber(countIn(reading!)),
    rolled: toJsonNumber(total),
    pending: toJsonNumber(pending!),
    rolledUpAt: rolledUpAt?.toISOString() ?? null,
    adjustments: adjustments.map(({ at, kind, count }) => ({ at: at.toISOString(), kind, count: toJsonNumber(count) })),
  }
}

/** Since when every day that was counted has its hours. The day before is not expired yet in any case. */
function hoursSince({ now, config }: Source): number {
  return now.getTime() - (config.history.hourDays - 1) * DAY_MS
}

function periodOf({ asked: { period, from, to, tz }, now }: Source): ChosenPeriod {
  return chosenPeriod({ name: period, from, to }, tz, now)
}

/** The figures and the chart of the period, and which spans of it are compared. */
async function readHistory(source: Source, period: ChosenPeriod, reader: HistoryReader) {
  const [{ figures, compared }, units] = await Promise.all([
    readFigures(source, reader, period),
    readUnits(reader, period, source.now.getTime()),
  ])
  const history = { timeZone: period.range.zone.name, figures, chart: chart(source, period, compared, units) }
  return { history, adjustments: units.adjustments, spans: compared.spans }
}

/** The figures, and what is compared of one more period. */
async function readFigures({ asked: { tz }, now }: Source, reader: HistoryReader, more?: ChosenPeriod) {
  const periods = (['30d', '7d', 'today'] as const).map((name) => chosenPeriod({ name }, tz, now))
  const compared = await readCompared(reader, [...periods, ...(more ? [more] : [])], now.getTime())
  const [month, week, today] = periods.map((period, index) => comparison(period, compared[index]!))
  return { figures: { today: today!, '7d': week!, '30d': month! }, compared: compared.at(-1)! }
}

/** `until`: up to where a running period is compared. */
function comparison({ to, range: { zone } }: ChosenPeriod, { spans, ...counts }: Compared) {
  const isCut = spans !== null && spans.current.to < to
  return { ...toJson(counts), until: isCut ? zone.clockTime(spans.current.to) : null }
}

function toJson({ count, compared, before }: Omit<Compared, 'spans'>) {
  return { count: toJsonNumber(count), compared: orNull(compared), before: orNull(before) }
}

function chart({ asked, now }: Source, period: ChosenPeriod, counted: Compared, units: Units) {
  const { range, from, to, earlier } = period
  const { starts, counts, previous, imported, running } = units
  const day = (at: number) => dayText(range.zone.dateAt(at))
  // All time begins with the first month that has something, but not later than the present one.
  const begins = (count: bigint, index: number) => count !== 0n || index === counts.length - 1
  const first = asked.period === 'all' ? counts.findIndex(begins) : 0
  // Nothing is drawn of a time before counting began.
  const before = counted.spans && earlier && { first: day(earlier(from)), last: day(earlier(to) - 1) }
  return {
    by: range.by,
    ...comparison(period, { ...counted, count: counts.reduce((sum, count) => sum + count, 0n) }),
    first: day(first > 0 ? starts[first]! : from),
    last: day(Math.min(to - 1, now.getTime())),
    beforeFirst: before?.first ?? null,
    beforeLast: before?.last ?? null,
    running: running === null ? null : running - first,
    points: starts.slice(first).map((start, index) => ({
      start: range.zone.clockTime(start),
      count: toJsonNumber(counts[first + index]!),
      ...(before && { before: orNull(previous[first + index]!) }),
      ...(imported[first + index] && { imported: true }),
    })),
  }
}

function orNull(count: bigint | null): number | null {
  return count === null ? null : toJsonNumber(count)
}

async function rolledTotal({ db, config: { ranges } }: Source, of: SumOf): Promise<number> {
  const { total } = await readSum(db, of, { mostPending: 0, period: null, ranges })
  return toJsonNumber(total)
}

/** The figures of the type that counts the same visits in another way; none if it does not list the same prefix. */
async function alsoNumbers(source: Source, type: CounterType, prefix: string, period: ChosenPeriod) {
  const of = await shownSum(source, type, period)
  if (of.name !== prefix) return {}
  const reader = historyOfSum(source.db, of)
  const [{ figures }, total] = await Promise.all([readFigures(source, reader), rolledTotal(source, of)])
  return { also: { figures, total } }
}

/** The first counters of the period, or those found. @param comparing the spans in which all rows are compared */
async function readList(
  source: Source,
  type: CounterType,
  period: ChosenPeriod,
  comparing: Promise<Comparison | null>,
) {
  const [{ counters, counts, ...more }, spans] = await Promise.all([readCounts(source, type, period), comparing])
  const inSpans = spans === null ? [] : [spans.current, spans.before]
  const [current, before] = await Promise.all(inSpans.map((span) => readPeriodCounts(source.db, counters, span)))
  return {
    ...more,
    counters: counters.map(({ name }, index) => {
      const page = pageOf(type.url, name)
      const of = { count: counts[index]!, compared: current?.[index] ?? null, before: before?.[index] ?? null }
      return { key: name, ...(page !== null && { page }), ...toJson(of) }
    }),
  }
}

async function readCounts(
  { db, asked: { period: name, find, rows } }: Source,
  type: CounterType,
  period: ChosenPeriod,
): Promise<Ranking> {
  if (find !== '') {
    const { counters, next } = await findCounters(db, type, { prefix: find, after: null, limit: rows })
    const counts = await (name === 'all'
      ? readCounters(db, counters, 'rolled').then((readings) => readings.map(({ total }) => total))
      : readPeriodCounts(db, counters, period))
    return { counters, counts, more: next !== null, certain: true }
  }
  if (name !== 'all') return readRanking(db, type, period, rows)
  const top = await readTop(db, type, { period: 'all' }, rows + 1)
  const shown = top.slice(0, rows)
  return {
    counters: shown.map(({ key }) => ({ recordType: type.recordType, recordId: 0n, name: key })),
    counts: shown.map(({ count }) => count),
    more: top.length > rows,
    certain: true,
  }
}
