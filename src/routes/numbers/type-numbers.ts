import type { CounterType } from '../../config/counter-types.ts'
import type { ChosenPeriod } from '../../counters/history/comparison.ts'
import { historyOfSum } from '../../counters/history/read-history.ts'
import {
  MAX_PUBLIC_PENDING_OF_TYPE,
  readSum,
  type SumOf,
  type SumReading,
  sumOf,
} from '../../counters/history/read-sum.ts'
import { checkPrefix, TooManyKeys } from '../../counters/keys/prefix.ts'
import { toJsonNumber } from '../../database/values.ts'
import { chartOf, FIGURE_ROWS, figuresOf, firstUnit, readHistory } from './history-numbers.ts'
import { readList } from './list-numbers.ts'
import { periodOf, type Source } from './numbers-query.ts'

/** The types whose visits are shown beside those of a type: of all its counters, and of each row of its list. */
export interface Companions {
  ofType: CounterType | undefined
  ofRow: CounterType | undefined
}

/**
 * The numbers of a type's page, as of the last roll-up. They are about the prefix in the search, if the type lists it and it has
 * not too many keys.
 * @throws {InvalidInput} if the period, the time zone or the search is not valid
 */
export async function typeNumbers(source: Source, type: CounterType, also: Companions) {
  const period = periodOf(source)
  const of = await shownSum(source, type, period)
  const reading = readHistory(source, period, historyOfSum(source.db, of))
  const other = also.ofType === undefined ? undefined : readAlso(source, also.ofType, of.name, period)
  const shown = Promise.all([reading, other]).then(([own, other]) => {
    return { spans: own.compared.spans, first: firstUnit(source, own, other?.history) }
  })
  const [own, sum, alsoShown, list] = await Promise.all([
    reading,
    readTotal(source, of),
    other,
    readList(source, type, also.ofRow, period, shown),
  ])
  const recent = source.recent?.of(`${type.recordType} ${of.name}`, sum, source.now.getTime()) ?? null
  return {
    timeZone: period.range.zone.name,
    figures: figuresOf(own),
    chart: chartOf(source, period, own, alsoShown?.history),
    prefix: of.name || null,
    total: toJsonNumber(sum.total),
    ...(alsoShown && { also: { figures: figuresOf(alsoShown.history), total: alsoShown.total } }),
    list,
    recent: recent && { minutes: recent.minutes, count: toJsonNumber(recent.count) },
  }
}

/** What the page adds up: all counters of the type, or those of a prefix, if they are few enough. */
async function shownSum(
  { db, asked: { find } }: Source,
  { recordType, prefixes }: CounterType,
  { range: { edges } }: ChosenPeriod,
): Promise<SumOf> {
  const all = await sumOf(recordType, null)
  if (!prefixes.includes(find)) return all
  try {
    await checkPrefix(db, { recordType, name: find }, { rows: Math.max(FIGURE_ROWS, edges.length) })
    return await sumOf(recordType, find)
  } catch (error) {
    if (error instanceof TooManyKeys) return all
    throw error
  }
}

function readTotal({ db, config: { ranges }, recent }: Source, of: SumOf): Promise<SumReading> {
  const mostPending = recent === null ? 0 : MAX_PUBLIC_PENDING_OF_TYPE
  return readSum(db, of, { mostPending, maxRows: null, period: null, ranges })
}

/** The numbers of the type that counts the same visits in another way; none if it does not list the same prefix. */
async function readAlso(source: Source, type: CounterType, prefix: string, period: ChosenPeriod) {
  const of = await shownSum(source, type, period)
  if (of.name !== prefix) return undefined
  const [history, { total }] = await Promise.all([
    readHistory(source, period, historyOfSum(source.db, of)),
    readTotal({ ...source, recent: null }, of),
  ])
  return { history, total: toJsonNumber(total) }
}
