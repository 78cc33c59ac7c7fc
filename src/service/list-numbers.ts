import { type CounterType, pageOf } from '../config/counter-types.ts'
import type { CounterAddress, CounterPlace } from '../counters/counter-address.ts'
import { periodAt } from '../counters/history/history-range.ts'
import { MAX_RANKED } from '../counters/history/ranking.ts'
import { readRows } from '../counters/history/read-history.ts'
import { type Selection, selectionOf, selectionsOf } from '../counters/history/selection.ts'
import { countIn } from '../counters/read/read-counters.ts'
import { countKeys, findCounters, searchedPrefix } from '../counters/read/search.ts'
import type { View } from '../periods.ts'
import type { Caller } from './caller.ts'
import { type ChosenPeriod, type Comparison, FIRST_DAY, wholeDays } from './chosen-period.ts'
import { firstHour } from './history.ts'
import { readTop, unlessTooMany } from './ranking.ts'
import { readCounters } from './read.ts'

/** The most rows with small charts, and the most units of these. A file with more rows has none. */
const MAX_CHARTED = 100
/** The most counters that are counted for the heading of the list. */
const MAX_COUNTED = 1_000

/** The most keys in which a search looks for a text, in the order of the keys. */
export const MAX_SEARCHED = 10_000

/** What a page of numbers is asked for. `tz`: the visitor's time zone */
export type AskedNumbers = Pick<View, 'period' | 'from' | 'to' | 'find' | 'by' | 'sort'> &
  Partial<Pick<View, 'show'>> & { tz: string; skip: number; rows: number }

/** How numbers are read: by whom, what was asked for, and when. `isPublic`: for a page that does not say how many keys there are */
export interface Source {
  caller: Caller
  asked: AskedNumbers
  now: Date
  isPublic: boolean
}

/** A list of counters of a type, with those of `also` beside them. */
interface List extends Source {
  type: CounterType
  also?: CounterType | undefined
  period: ChosenPeriod
}

/** `ranked`: whether those with the highest counts come first. If there are too many for that, they are in another order. */
export interface Listed {
  counters: readonly CounterAddress[]
  more: boolean
  ranked: boolean
  /** In a search: how many keys it has looked through, and whether these are all. */
  searched?: { keys: number; all: boolean }
}

/** What each row of a list is counted for: the spans in which it is compared, and the first unit of the chart. */
interface Shown {
  spans: Comparison | null
  first: number
}

/** A page of the counters that `findListed` finds, in the order that was asked for. */
export async function readList(list: List, reading: Promise<Shown>, listing: Promise<Listed>) {
  const { caller, type, asked, isPublic } = list
  const { sort, skip, rows: most } = asked
  const prefix = searchedPrefix(type, asked.find)
  const isCounted = !isPublic && (prefix === '' || type.prefixes.includes(prefix))
  const [shown, found, of, folders] = await Promise.all([
    reading,
    listing,
    isCounted && countKeys(caller.db, { recordType: type.recordType, name: prefix }, MAX_COUNTED),
    type.readings && !isPublic && prefix === '' ? readFolders(list) : [],
  ])
  const { searched, more, ranked } = found
  const order = sort !== '' || searched ? await sorted(list, found.counters, shown.spans) : null
  const all = order?.counters ?? found.counters
  const counters = all.slice(skip, skip + most)
  const listed = await listedRows(list, counters, shown)
  // Rankings may be a minute old, counts are not.
  const rows = ranked ? listed.filter(({ count }) => count !== 0n) : listed
  if (ranked && sort === '') rows.sort((a, b) => descending(a.count, b.count))
  return {
    of: of || null,
    ...(searched && order && { searched: { ...searched, found: all.length, sum: order.sum } }),
    more: more || all.length > skip + most,
    ranked,
    counters: rows,
    folders,
  }
}

/** The counts of the ten largest folders, such as releases: keys up to their last slash. None if there are too many keys. */
async function readFolders(list: List) {
  const { counters, more } = await findListed({ ...list, asked: { ...list.asked, sort: 'change' } })
  const counts = new Map<string, bigint>()
  for (const [nth, { count }] of (more ? [] : await countRows(list, counters)).entries()) {
    const folder = /^.*\//s.exec(counters[nth]!.name)?.[0]
    if (folder !== undefined) counts.set(folder, (counts.get(folder) ?? 0n) + count)
  }
  const sorted = [...counts].filter(([, count]) => count !== 0n).sort(([, a], [, b]) => descending(a, b))
  return sorted.slice(0, 10).map(([key, count]) => ({ key, count }))
}

const descending = (a: bigint, b: bigint) => (a < b ? 1 : a > b ? -1 : 0)

/** The counters that have a count, sorted, and the sum of their counts. */
async function sorted(list: List, counters: readonly CounterAddress[], spans: Comparison | null) {
  const { also, asked } = list
  const { sort } = asked
  const isByChange = sort === 'change'
  const [counted, others] = await Promise.all([
    countRows(list, counters, { sums: isByChange && spans ? [spans.current, spans.before].map(selectionOf) : [] }),
    sort === 'also' && also ? countRows(list, inType(also, counters)) : null,
  ])
  const rows = counted
    .map(({ count, sums: [compared = 0n, before = 0n] }, index) => ({
      counter: counters[index]!,
      count,
      by: others ? others[index]!.count : isByChange ? compared - before : count,
    }))
    .filter(({ count }) => count !== 0n)
    .sort((a, b) => descending(a.by, b.by))
  return {
    counters: rows.map(({ counter }) => counter),
    sum: rows.reduce((sum, { count }) => sum + count, 0n),
  }
}

/** Counters that have a count in a period, from the highest one. */
export async function largestOf(list: List, counters: readonly CounterAddress[]) {
  return (await sorted({ ...list, asked: { ...list.asked, sort: '' } }, counters, null)).counters
}

const inType = ({ recordType }: CounterType, counters: readonly CounterPlace[]): CounterPlace[] =>
  counters.map(({ recordId }) => ({ recordType, recordId }))

/**
 * The counters with the highest counts in the period, enough for a page or, to sort otherwise, a thousand; in a search, all whose keys
 * contain the text; of a listed prefix, those that begin with it. @throws {InvalidInput} if it is not valid for keys
 */
export async function findListed({ caller, type, asked, period }: List): Promise<Listed> {
  const { find, period: name, sort, skip, rows } = asked
  const { recordType, prefixes } = type
  const prefix = searchedPrefix(type, find)
  const isSearch = prefix !== '' && !prefixes.includes(prefix)
  // One less than the most of a ranking, which then says whether there are more.
  const limit = isSearch ? MAX_RANKED - 1 : sort === '' ? skip + rows : MAX_RANKED
  const inPeriod = name === 'all' ? null : selectionOf(period)
  const list = async (prefix: string): Promise<Listed> => {
    const { counters, next } = await findCounters(caller.db, type, { prefix, after: null, limit })
    return { counters, more: next !== null, ranked: false }
  }
  /** The counters of a prefix with the highest counts. `null`: too many counters. */
  const rank = async (prefix: string, during = inPeriod): Promise<Listed | null> => {
    const found = await unlessTooMany(readTop(caller, { recordType, name: prefix }, during, limit + 1))
    if (found === null) return null
    const counters = found.counters.slice(0, limit)
    if (counters.length === limit) return { counters, more: found.counters.length > limit, ranked: true }
    // Rankings have no counter of which nothing was rolled up yet, and none with a negative count.
    return { counters: joined(counters, (await list(prefix)).counters, limit), more: false, ranked: true }
  }
  // If there are too many to rank in the period, those of all time.
  const lead = async () => (await rank('')) ?? { ...(await rank('', null))!, ranked: false }
  if (prefix === '') return lead()
  if (!isSearch) return (await rank(prefix)) ?? list(prefix)
  const { counters: keys, next } = await findCounters(caller.db, type, {
    prefix: '',
    after: null,
    limit: MAX_SEARCHED,
  })
  const text = find.toLowerCase()
  const matches = keys.filter(({ name }) => name.toLowerCase().includes(text))
  // Of more keys, those that begin with the text are found too.
  const beginning = next === null ? null : ((await rank(prefix)) ?? (await list(prefix)))
  const counters = joined(beginning?.counters ?? [], matches, MAX_RANKED + 1)
  const more = beginning?.more || counters.length > MAX_RANKED
  const searched = { keys: keys.length, all: next === null }
  return { counters: counters.slice(0, MAX_RANKED), more, ranked: true, searched }
}

/** Two lists one after the other, with each counter once. */
function joined(first: readonly CounterAddress[], second: readonly CounterAddress[], limit: number): CounterAddress[] {
  const all = new Map([...first, ...second].map((counter) => [counter.recordId, counter]))
  return [...all.values()].slice(0, limit)
}

/** The rows of counters, each with its visitors and its small chart. */
async function listedRows(list: List, counters: readonly CounterAddress[], { spans, first }: Shown) {
  const { type, also, asked, now, period } = list
  const units = { ...period.range, edges: period.range.edges.slice(period.first + first) }
  const hasCharts = counters.length <= MAX_CHARTED && (asked.period === 'all' || units.edges.length <= MAX_CHARTED + 1)
  // A counter is new if nothing of it was counted before the period.
  const earlier = { from: FIRST_DAY, to: period.from, firstDay: FIRST_DAY, nextDay: period.firstDay }
  const compared = spans === null ? [] : [spans.current, spans.before, earlier]
  const whole = wholeDays(period, now.getTime())
  const [rows, visitors] = await Promise.all([
    countRows(list, counters, {
      charts: hasCharts ? selectionsOf(units) : [],
      sums: [whole.days === 0 ? [] : selectionOf(whole), ...compared.map(selectionOf)],
    }),
    also && countRows(list, inType(also, counters)),
  ])
  return rows.map(({ count, isRolled, sums, charts }, index) => {
    const [whole = 0n, compared = null, before = null, earlier = null] = sums
    const { name } = counters[index]!
    const page = pageOf(type.url, name)
    return {
      key: name,
      ...(page !== null && { page }),
      count,
      whole,
      compared,
      before,
      ...(isRolled && { isRolled }),
      ...(earlier === 0n && count > 0n && { isNew: true }),
      ...(visitors && { also: visitors[index]!.count }),
      ...(hasCharts && { points: charts }),
    }
  })
}

/** Counts a period of each counter, with what is pending. `isRolled`: without, because there was too much of it to add up */
async function countRows(
  list: List,
  counters: readonly CounterPlace[],
  { sums = [], charts = [] }: { sums?: Selection[]; charts?: Selection[] } = {},
) {
  const { caller, asked, now, period } = list
  if (counters.length === 0) return []
  const hoursFrom = firstHour(caller.isolate.config)
  const unnamed = counters.map((counter) => ({ ...counter, name: '' }))
  const [rows, { readings }] = await Promise.all([
    readRows(caller.db, counters, { sums: [selectionOf(period), ...sums], charts, hoursFrom }),
    readCounters(caller, unnamed),
  ])
  const unit = periodAt(period.range, now.getTime())
  const current = unit === undefined || unit < period.first ? undefined : unit
  const running = current === undefined ? -1 : charts.length - (period.range.edges.length - 1 - current)
  return rows.map(({ sums: [count, ...sums], charts }, index) => {
    const reading = readings[index]!
    const pending = current === undefined ? 0n : (reading.pending ?? 0n)
    return {
      count: asked.period === 'all' ? countIn(reading) : count! + pending,
      isRolled: current !== undefined && reading.pending === null,
      sums,
      charts: charts.map((count, place) => (place === running ? count + pending : count)),
    }
  })
}
