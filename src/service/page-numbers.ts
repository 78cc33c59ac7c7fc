import type { CounterType } from '../config/counter-types.ts'
import { dayText } from '../counters/calendar.ts'
import type { CounterAddress } from '../counters/counter-address.ts'
import { readByAge } from '../counters/history/read-by-age.ts'
import { readCounterHistory } from '../counters/history/read-history.ts'
import { checkKeys, type SummedKeys } from '../counters/keys/prefix.ts'
import { countIn, type Reading, readCounters } from '../counters/read/read-counters.ts'
import { MAX_PENDING_OF_TYPE, MAX_PUBLIC_PENDING_OF_TYPE, readSum } from '../counters/read/read-sum.ts'
import { findCounters, searchedPrefix } from '../counters/read/search.ts'
import type { Executor } from '../database/database.ts'
import { type ChosenPeriod, chosenPeriod, wholeDays } from './chosen-period.ts'
import { firstHour } from './history.ts'
import { type AskedNumbers, findListed, type Listed, largestOf, readList, type Source } from './list-numbers.ts'
import { counterOfKey } from './named-counters.ts'
import { type Compared, type HistoryReader, type KeyPart, partsByKey, readPeriods, type Unit } from './period-counts.ts'
import { unlessTooMany } from './ranking.ts'

function periodOf({ asked: { period, from, to, tz }, now }: Source, by: AskedNumbers['by']): ChosenPeriod {
  return chosenPeriod({ name: period, from, to, by: by || undefined }, tz, now)
}

export type TypeNumbers = Awaited<ReturnType<typeof typeNumbers>>
export type CounterNumbers = Awaited<ReturnType<typeof counterNumbers>>

const FIGURES = ['30d', '7d', 'today', '12m'] as const
/** The most keys that a chart shows apart. */
const MAX_PARTS = 5
/** About the rows that the figures read of a counter: the parts of their periods and of the periods before. */
const FIGURE_ROWS = 120

/**
 * The numbers of a type's page, pending counts included; in a search, of the keys that it finds, if they are few enough.
 * @param types those that the visitor may see @throws {InvalidInput} if the period, the time zone or the search is not valid
 */
export async function typeNumbers(source: Source, type: CounterType, types: readonly CounterType[]) {
  const [period, name] = [periodOf(source, source.asked.by), searchedPrefix(type, source.asked.find)]
  // In its own units, whichever the chart has.
  const ofList = source.asked.by === '' ? period : periodOf(source, '')
  const wantedList = { ...source, type, also: shownCompanion(type, types, 'counter'), period: ofList }
  const listing = findListed(wantedList)
  const asked = name === '' || type.prefixes.includes(name) ? { name } : listing
  const reading = readSums(source, type, shownCompanion(type, types, 'type'), period, asked)
  const shown = reading.then(({ own, other }) => {
    return { spans: own.history.compared.spans, first: firstUnit(source, own.history, other?.history) }
  })
  const [{ of, own, other, ages }, list] = await Promise.all([reading, readList(wantedList, shown, listing)])
  const prefix = 'name' in of ? of.name : ''
  const { chart, ...numbers } = shownNumbers(source, period, own, other)
  return {
    ...numbers,
    chart: { ...chart, ...(ages.length > 0 && { ages }) },
    prefix: prefix || null,
    isOfType: isOfType(of),
    list,
  }
}

const isOfType = (of: SummedKeys) => 'name' in of && of.name === ''

/** The numbers of a prefix, or of what a search finds; of the whole type if that is too much. `other`: of the same keys in `also` */
async function readSums(
  source: Source,
  type: CounterType,
  also: CounterType | undefined,
  period: ChosenPeriod,
  asked: { name: string } | Promise<Listed>,
) {
  const { recordType } = type
  const keys = await asked
  const wanted = 'name' in keys ? { recordType, name: keys.name } : { recordType, found: keys.counters }
  const isSummed = ('name' in keys || !keys.more) && (await areFew(source, wanted, period))
  const of = isSummed ? wanted : { recordType, name: '' }
  const its = also && sameKeys(of, also)
  const { show = '' } = source.asked
  const largest = show === 'keys' || show === 'age' ? await largestKeys(source, type, of, period) : []
  const [own, other, byAge] = await Promise.all([
    readSumNumbers(source, of, period, show === 'keys' ? largest : []),
    its && areFew(source, its, period).then((few) => (few ? readSumNumbers(source, its, period) : undefined)),
    show === 'age' ? readByAge(source.caller.db, largest, source.now.getTime()) : [],
  ])
  const ages = byAge.flatMap((age, nth) => (age ? [{ key: largest[nth]!.name, counts: addedUp(age.counts) }] : []))
  return { of, own, other, ages }
}

/** Each count with those before it. */
function addedUp(counts: readonly bigint[]): bigint[] {
  let sum = 0n
  return counts.map((count) => (sum += count))
}

/** The keys with the highest counts in a period, of those that a page adds up. */
async function largestKeys(source: Source, type: CounterType, of: SummedKeys, period: ChosenPeriod) {
  if ('found' in of) return (await largestOf({ ...source, type, period }, of.found)).slice(0, MAX_PARTS)
  const asked = { ...source.asked, find: of.name, sort: '', skip: 0, rows: MAX_PARTS } as const
  return (await findListed({ ...source, asked, type, period })).counters
}

/** The same keys in another type; `undefined`: it does not list the prefix, or has other keys. */
function sameKeys(of: SummedKeys, { recordType, prefixes, visitorsOf }: CounterType): SummedKeys | undefined {
  if ('name' in of) return of.name === '' || prefixes.includes(of.name) ? { ...of, recordType } : undefined
  if (visitorsOf !== 'page') return undefined
  return { recordType, found: of.found.map((counter) => ({ ...counter, recordType })) }
}

async function areFew({ caller: { db } }: Source, of: SummedKeys, { range }: ChosenPeriod): Promise<boolean> {
  if (isOfType(of)) return true
  // The figures and the chart have most rows in common.
  const rows = Math.max(FIGURE_ROWS, range.edges.length)
  return (await unlessTooMany(checkKeys(db, of, { rows }).then(() => true))) ?? false
}

/** The numbers of a sum, whose keys `areFew`. @param keys those whose parts are read, too */
async function readSumNumbers(
  source: Source,
  of: SummedKeys,
  period: ChosenPeriod,
  keys: readonly CounterAddress[] = [],
) {
  const { db, isolate } = source.caller
  const hoursFrom = firstHour(isolate.config)
  const mostPending = source.isPublic ? MAX_PUBLIC_PENDING_OF_TYPE : MAX_PENDING_OF_TYPE
  let reading: Reading | undefined
  const history = await readHistory(source, period, async (selections) => {
    const asked = { withTotal: true, history: { selections, hoursFrom }, mostPending, keys }
    const { counts, parts, ...sum } = await readSum(db, of, asked, db.ranges)
    reading = sum
    return { counts, pending: sum.pending, adjustments: [], parts }
  })
  return { history, reading: reading!, parts: partsByKey(history, keys) }
}

/** The numbers of a counter's page, pending counts included. @throws {InvalidInput} if the period, time zone or key is not valid */
export async function counterNumbers(
  source: Source,
  { type, key, types }: { type: CounterType; key: string; types: readonly CounterType[] },
) {
  const period = periodOf(source, source.asked.by)
  const { db, isolate } = source.caller
  const hoursFrom = firstHour(isolate.config)
  const read = async (of: CounterType) => {
    const counter = await counterOfKey(isolate.addresses, of, key)
    const [history, [reading]] = await Promise.all([
      readHistory(source, period, (selections, between) =>
        readCounterHistory(db, counter, { selections, hoursFrom }, between),
      ),
      readCounters(db, [counter]),
    ])
    return { history, reading: reading! }
  }
  const also = shownCompanion(type, types, 'counter')
  const [own, other] = await Promise.all([read(type), also && read(also)])
  const { zone } = period.range
  const { total, pending } = own.reading
  return {
    ...shownNumbers(source, period, own, other),
    exists: total !== 0n || pending !== 0n || (await isListed(db, type, key)),
    adjustments: own.history.adjustments.map((made) => ({ ...made, time: zone.clockTime(made.at.getTime()) })),
  }
}

/** Whether a counter without a count exists: it was set to zero, or only named. */
async function isListed(db: Executor, type: CounterType, key: string): Promise<boolean> {
  const { counters } = await findCounters(db, type, { prefix: key, after: null, limit: 1 })
  return counters[0]?.name.length === key.length
}

function shownNumbers(source: Source, period: ChosenPeriod, own: ReadNumbers, other?: ReadNumbers) {
  const [shown, also] = [own, other].map((read) => {
    return read && { figures: read.history.figures, total: countIn(read.reading) }
  })
  return {
    timeZone: period.range.zone.name,
    /** When they were asked for, by the clock of their time zone. */
    asOf: period.range.zone.clockTime(source.now.getTime()),
    ...shown!,
    rolled: own.reading.total,
    pending: own.reading.pending,
    rolledUpAt: own.reading.rolledUpAt,
    chart: chartOf(source, period, own.history, other?.history, own.parts),
    ...(also && { also }),
  }
}

interface ReadNumbers {
  history: ReadHistory
  reading: Reading
  parts?: KeyPart[]
}

type ReadHistory = Awaited<ReturnType<typeof readHistory>>

/** Reads the figures, and a period: its units, and what of it is compared. */
async function readHistory({ asked: { tz }, now }: Source, period: ChosenPeriod, reader: HistoryReader) {
  const periods = FIGURES.map((name) => chosenPeriod({ name }, tz, now))
  const whole = wholeDays(period, now.getTime())
  const overDays = { ...period, ...whole, earlier: null }
  const { compared, ...shown } = await readPeriods(reader, [...periods, overDays, period], now.getTime())
  const figures = FIGURES.map((name, index) => [name, comparison(periods[index]!, compared[index]!)] as const)
  return {
    figures: Object.fromEntries(figures) as Record<(typeof FIGURES)[number], ReturnType<typeof comparison>>,
    compared: compared.at(-1)!,
    /** The days that are over, and what was counted in them. */
    whole: { count: compared.at(-2)!.count, days: whole.days },
    ...shown,
  }
}

/** `until`: up to where a running period is compared. */
export function comparison({ to, range: { zone } }: ChosenPeriod, { spans, ...counts }: Compared) {
  const isCut = spans !== null && spans.current.to < to
  return { ...counts, until: isCut ? zone.clockTime(spans.current.to) : null }
}

/** The index of the first unit that is shown: all time begins with the first month that has something. */
function firstUnit({ asked }: Source, { units }: ReadHistory, also: ReadHistory | undefined): number {
  if (asked.period !== 'all') return 0
  const first = units.findIndex(({ count }, index) => count !== 0n || (also?.units[index]?.count ?? 0n) !== 0n)
  return first < 0 ? units.length - 1 : first
}

/** The chart. Units that have not begun have no count. */
function chartOf(source: Source, period: ChosenPeriod, own: ReadHistory, also?: ReadHistory, parts: KeyPart[] = []) {
  const { range, from, to, earlier } = period
  const now = source.now.getTime()
  const first = firstUnit(source, own, also)
  const shown = own.units.slice(first)
  const sum = (units: readonly Unit[]) => units.reduce((sum, { count }) => sum + count, 0n)
  const day = (at: number) => dayText(range.zone.dateAt(at))
  // Nothing is drawn of a time before counting began.
  const beforeFirst = own.compared.spans && earlier && day(earlier(from))
  return {
    by: period.by,
    whole: own.whole,
    ...(parts.length > 0 && { keys: parts.map(({ key }) => key) }),
    ...comparison(period, { ...own.compared, count: sum(own.units) }),
    ...(also && { also: comparison(period, { ...also.compared, count: sum(also.units) }) }),
    first: day(first > 0 ? shown[0]!.start : from),
    last: day(Math.min(to - 1, now)),
    beforeFirst: beforeFirst ?? null,
    running: now < to ? shown.findLastIndex(({ start }) => start <= now) : null,
    points: shown.map((unit, index) => {
      const countOf = ({ start, count }: Unit) => (start > now ? null : count)
      return {
        start: range.zone.clockTime(unit.start),
        count: countOf(unit),
        ...(also && { also: countOf(also.units[first + index]!) }),
        ...(beforeFirst && { before: unit.previous }),
        ...(parts.length > 0 && { parts: parts.map(({ counts }) => counts[first + index]!) }),
      }
    }),
  }
}

/** The type whose figures a page shows beside a type: visitors of a page, or of the whole site. @param types those that it may show */
export function shownCompanion({ also }: CounterType, types: readonly CounterType[], of: 'counter' | 'type') {
  const shown = also.filter((type) => types.includes(type))
  const ofSite = of === 'type' ? shown.find(({ visitorsOf }) => visitorsOf === 'site') : undefined
  return ofSite ?? shown.find(({ visitorsOf }) => visitorsOf === 'page')
}
