import { type CounterType, pageOf } from '../../config/counter-types.ts'
import type { ChosenPeriod, Comparison } from '../../counters/history/comparison.ts'
import { readRows } from '../../counters/history/list-rows.ts'
import type { Compared } from '../../counters/history/period-counts.ts'
import { type Ranking, readPrefixRanking, readRanking, readTop } from '../../counters/history/ranking.ts'
import type { CounterPlace } from '../../counters/keys/counter-address.ts'
import { TooManyKeys } from '../../counters/keys/prefix.ts'
import { readCounters } from '../../counters/read/read-counters.ts'
import { countKeys, findCounters, searchedPrefix } from '../../counters/read/search.ts'
import { toJsonNumber } from '../../database/values.ts'
import { firstHour, periodOf, type Source } from './numbers-query.ts'

/** The most rows with small charts, and the most units of these. A file with more rows has none. */
const MAX_CHARTED = 100
/** The most counters that are counted for the heading of the list. */
const MAX_COUNTED = 1_000

/** Of so many counters with the highest counts, a search finds any part of the key, in any case. */
const LEADING = 100

/** `ranked`: whether those with the highest counts come first. Too many keys of a prefix are in the order of the keys. */
type Listed = Ranking & { ranked: boolean }

/**
 * The counters with the highest counts in the period; in a search, of those whose keys begin with a text, or contain it and are among
 * the first hundred of the type. A prefix that the type lists finds only keys that begin with it.
 * @param shown the spans in which all rows are compared, and the first unit of the chart
 */
export async function readList(
  source: Source,
  type: CounterType,
  also: CounterType | undefined,
  chosen: ChosenPeriod,
  shown: Promise<{ spans: Comparison | null; first: number }>,
) {
  const { db, asked } = source
  // In its own units, whichever the chart has.
  const period = asked.by === undefined ? chosen : periodOf({ ...source, asked: { ...asked, by: undefined } })
  const prefix = searchedPrefix(type, asked.find)
  const isCounted = !source.isPublic && (prefix === '' || type.prefixes.includes(prefix))
  const [{ spans, first }, { counters, more, certain, ranked }, of] = await Promise.all([
    shown,
    readListed(source, type, prefix, period),
    isCounted && countKeys(db, { recordType: type.recordType, name: prefix }, MAX_COUNTED),
  ])
  const others = also && counters.map(({ recordId }) => ({ recordType: also.recordType, recordId }))
  const units = period.range.edges.length - 1 - period.first
  const hasCharts = counters.length <= MAX_CHARTED && (asked.period === 'all' || units <= MAX_CHARTED)
  // A counter is new if it had nothing from the predecessor's first day on. What is compared of a running period may end earlier.
  const since = spans && { ...spans.before, to: chosen.from, nextDay: chosen.firstDay }
  const shownRows = {
    charts: hasCharts ? { period, firstHour: firstHour(source) } : null,
    spans: since === null ? [] : [spans!.current, spans!.before, since],
  }
  const [{ charts, counts }, visitors] = await Promise.all([
    readRows(db, counters, shownRows),
    others && countsIn(source, others, period),
  ])
  const [compared, before, earlier] = counts
  return {
    of: of || null,
    more,
    certain,
    ranked,
    counters: counters.map(({ name, count }, index) => {
      const page = pageOf(type.url, name)
      return {
        key: name,
        ...(page !== null && { page }),
        ...comparedNumbers({ count, compared: compared?.[index] ?? null, before: before?.[index] ?? null }),
        ...(earlier?.[index] === 0n && count > 0n && { isNew: true }),
        ...(visitors && { also: toJsonNumber(visitors[index]!) }),
        ...(charts && { points: charts[index]!.slice(first).map(toJsonNumber) }),
      }
    }),
  }
}

async function readListed(source: Source, type: CounterType, prefix: string, period: ChosenPeriod): Promise<Listed> {
  const { rows } = source.asked
  if (prefix === '') return { ...(await readLeading(source, type, period, rows)), ranked: true }
  const isListed = type.prefixes.includes(prefix)
  const found = await readFound(source, type, prefix, period)
  if (isListed && found.ranked) return found
  const { counters } = await readLeading(source, type, period, LEADING)
  const text = source.asked.find.toLowerCase()
  const isMatch = (name: string) => (isListed ? name.startsWith(prefix) : name.toLowerCase().includes(text))
  const matches = counters.filter(({ name }) => isMatch(name))
  const all = [...new Map([...matches, ...found.counters].map((counter) => [counter.recordId, counter])).values()]
  if (found.ranked) all.sort((a, b) => (a.count < b.count ? 1 : a.count > b.count ? -1 : 0))
  return { ...found, counters: all.slice(0, rows), more: found.more || all.length > rows }
}

async function readLeading({ db, asked }: Source, type: CounterType, period: ChosenPeriod, rows: number) {
  if (asked.period !== 'all') return readRanking(db, type, period, rows)
  const top = await readTop(db, type, null, rows + 1)
  return { counters: top.slice(0, rows), more: top.length > rows, certain: true }
}

/** The counters of a prefix with the highest counts; with too many keys, the first ones in the order of their keys. */
async function readFound(source: Source, type: CounterType, prefix: string, period: ChosenPeriod): Promise<Listed> {
  const { db, asked } = source
  try {
    const of = { recordType: type.recordType, name: prefix }
    const found = await readPrefixRanking(db, of, asked.period === 'all' ? null : period, { limit: asked.rows + 1 })
    return { counters: found.slice(0, asked.rows), more: found.length > asked.rows, certain: true, ranked: true }
  } catch (error) {
    if (!(error instanceof TooManyKeys)) throw error
    const { counters, next } = await findCounters(db, type, { prefix, after: null, limit: asked.rows })
    const counts = await countsIn(source, counters, period)
    const counted = counters.map((counter, index) => ({ ...counter, count: counts[index]! }))
    return { counters: counted, more: next !== null, certain: true, ranked: false }
  }
}

async function countsIn({ db, asked }: Source, counters: readonly CounterPlace[], period: ChosenPeriod) {
  if (asked.period !== 'all') return (await readRows(db, counters, { spans: [period] })).counts[0]!
  const unnamed = counters.map((counter) => ({ ...counter, name: '' }))
  const readings = await readCounters(db, unnamed, 'rolled')
  return readings.map(({ total }) => total)
}

/** A count and what is compared of it, as JSON. */
export function comparedNumbers({ count, compared, before }: Omit<Compared, 'spans'>) {
  return { count: toJsonNumber(count), compared: orNull(compared), before: orNull(before) }
}

export const orNull = (count: bigint | null) => (count === null ? null : toJsonNumber(count))
