import { type CounterType, pageOf } from '../config/counter-types.ts'
import type { CounterAddress, CounterPlace } from '../counters/counter-address.ts'
import { readRows } from '../counters/history/read-history.ts'
import { type Selection, selectionOf, selectionsOf } from '../counters/history/selection.ts'
import { readCounters } from '../counters/read/read-counters.ts'
import { countKeys, findCounters, searchedPrefix } from '../counters/read/search.ts'
import type { View } from '../periods.ts'
import type { Caller } from './caller.ts'
import type { ChosenPeriod, Comparison } from './chosen-period.ts'
import { firstHour } from './history.ts'
import { readTop, unlessTooMany } from './ranking.ts'

/** The most rows with small charts, and the most units of these. A file with more rows has none. */
const MAX_CHARTED = 100
/** The most counters that are counted for the heading of the list. */
const MAX_COUNTED = 1_000

/** Of so many counters with the highest counts, a search finds any part of the key, in any case. */
const LEADING = 100

/** For whom a list is read, and what was asked for. */
export interface ListSource {
  caller: Caller
  asked: Pick<View, 'period' | 'find'> & { rows: number }
  /** Whether for a public page, which does not say how many keys there are. */
  isPublic: boolean
}

/** `ranked`: whether those with the highest counts come first. If there are too many for that, they are in another order. */
interface Listed {
  counters: readonly CounterAddress[]
  more: boolean
  ranked: boolean
}

/**
 * The counters with the highest counts in the period; in a search, of those whose keys begin with a text, or contain it and are among
 * the first hundred of the type. A prefix that the type lists finds only keys that begin with it.
 * @param shown the spans in which all rows are compared, and the first unit of the chart
 */
export async function readList(
  source: ListSource,
  type: CounterType,
  also: CounterType | undefined,
  period: ChosenPeriod,
  shown: Promise<{ spans: Comparison | null; first: number }>,
) {
  const { caller, asked } = source
  const prefix = searchedPrefix(type, asked.find)
  const isCounted = !source.isPublic && (prefix === '' || type.prefixes.includes(prefix))
  const [{ spans, first }, { counters, more, ranked }, of] = await Promise.all([
    shown,
    readListed(source, type, prefix, period),
    isCounted && countKeys(caller.db, { recordType: type.recordType, name: prefix }, MAX_COUNTED),
  ])
  const others = also && counters.map(({ recordId }) => ({ recordType: also.recordType, recordId }))
  const { range } = period
  const units = { ...range, edges: range.edges.slice(period.first) }
  const hasCharts = counters.length <= MAX_CHARTED && (asked.period === 'all' || units.edges.length <= MAX_CHARTED + 1)
  // A counter is new if it had nothing from the predecessor's first day on. What is compared of a running period may end earlier.
  const since = spans && { ...spans.before, to: period.from, nextDay: period.firstDay }
  const [rows, visitors] = await Promise.all([
    countRows(source, counters, period, {
      charts: hasCharts ? selectionsOf(units) : [],
      sums: since === null ? [] : [spans!.current, spans!.before, since].map(selectionOf),
    }),
    others && countRows(source, others, period),
  ])
  const listed = rows.map((row, index) => ({
    ...row,
    name: counters[index]!.name,
    visitors: visitors && visitors[index]!.count,
  }))
  // Rankings may be a minute old, counts are not.
  if (ranked) listed.sort((a, b) => (a.count < b.count ? 1 : a.count > b.count ? -1 : 0))
  const shownRows = listed.map(({ name, count, sums, charts, visitors }) => {
    const page = pageOf(type.url, name)
    const [compared = null, before = null, earlier = null] = sums
    return {
      key: name,
      ...(page !== null && { page }),
      count,
      compared,
      before,
      ...(earlier === 0n && count > 0n && { isNew: true }),
      ...(visitors !== undefined && { also: visitors }),
      ...(hasCharts && { points: charts.slice(first) }),
    }
  })
  return { of: of || null, more, ranked, counters: shownRows }
}

async function readListed(
  { caller, asked: { find, rows, period: name } }: ListSource,
  type: CounterType,
  prefix: string,
  period: ChosenPeriod,
): Promise<Listed> {
  const inPeriod = name === 'all' ? null : selectionOf(period)
  /** The counters of a prefix with the highest counts. `null`: too many counters. */
  const rank = async (name: string, rows: number, during = inPeriod): Promise<Listed | null> => {
    const found = await unlessTooMany(readTop(caller, { recordType: type.recordType, name }, during, rows + 1))
    return found && { counters: found.counters.slice(0, rows), more: found.counters.length > rows, ranked: true }
  }
  // If there are too many to rank in the period, those of all time.
  const lead = async (rows: number) => (await rank('', rows)) ?? { ...(await rank('', rows, null))!, ranked: false }
  /** The first keys in their own order. */
  const list = async (): Promise<Listed> => {
    const { counters, next } = await findCounters(caller.db, type, { prefix, after: null, limit: rows })
    return { counters, more: next !== null, ranked: false }
  }
  if (prefix === '') return lead(rows)
  const isListed = type.prefixes.includes(prefix)
  const found = (await rank(prefix, rows)) ?? (await list())
  if (isListed && found.ranked) return found
  const { counters } = await lead(LEADING)
  const text = find.toLowerCase()
  const isMatch = ({ name }: CounterAddress) => (isListed ? name.startsWith(prefix) : name.toLowerCase().includes(text))
  const both = [...counters.filter(isMatch), ...found.counters]
  const all = [...new Map(both.map((counter) => [counter.recordId, counter])).values()]
  return { ...found, counters: all.slice(0, rows), more: found.more || all.length > rows }
}

/** Rows with the counts of a period. */
async function countRows(
  { caller, asked }: ListSource,
  counters: readonly CounterPlace[],
  period: ChosenPeriod,
  { sums = [], charts = [] }: { sums?: Selection[]; charts?: Selection[] } = {},
) {
  if (counters.length === 0) return []
  const hoursFrom = firstHour(caller.isolate.config)
  const ofPeriod = selectionOf(period)
  const unnamed = counters.map((counter) => ({ ...counter, name: '' }))
  const [rows, readings] = await Promise.all([
    readRows(caller.db, counters, { sums: [ofPeriod, ...sums], charts, hoursFrom }),
    asked.period === 'all' && readCounters(caller.db, unnamed, 'rolled'),
  ])
  return rows.map(({ sums: [count, ...sums], charts }, index) => {
    return { count: readings ? readings[index]!.total : count!, sums, charts }
  })
}
