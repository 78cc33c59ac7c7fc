import { shownCompanion } from '../../config/companions.ts'
import type { CounterType } from '../../config/counter-types.ts'
import { DAY_MS } from '../../counters/calendar.ts'
import type { ChosenPeriod } from '../../counters/history/comparison.ts'
import { historyOfCounter, historyOfSum } from '../../counters/history/read-history.ts'
import { MAX_PUBLIC_PENDING_OF_TYPE, readSum, type SumOf, sumOf } from '../../counters/history/read-sum.ts'
import type { AddressCache } from '../../counters/keys/counter-address.ts'
import { checkPrefix, TooManyKeys } from '../../counters/keys/prefix.ts'
import { countIn, readCounters } from '../../counters/read/read-counters.ts'
import { toJsonNumber } from '../../database/values.ts'
import { counterOfKey } from '../../service/named-counters.ts'
import { chartOf, FIGURE_ROWS, firstUnit, readHistory } from './history-numbers.ts'
import { readList } from './list-numbers.ts'
import { periodOf, type Source } from './numbers-query.ts'

/**
 * The numbers of a type's page, as of the last roll-up. They are about the prefix in the search, if the type lists it and it has
 * not too many keys.
 * @param types those that the visitor may see: one of them may count the same visits in another way
 * @throws {InvalidInput} if the period, the time zone or the search is not valid
 */
export async function typeNumbers(source: Source, type: CounterType, types: readonly CounterType[]) {
  const period = periodOf(source)
  const of = await shownSum(source, type, period)
  const reading = readHistory(source, period, historyOfSum(source.db, of))
  const also = shownCompanion(type, types, 'type')
  const other = also && readAlso(source, also, of.name, period)
  const shown = Promise.all([reading, other]).then(([own, other]) => {
    return { spans: own.compared.spans, first: firstUnit(source, own, other?.history) }
  })
  const [own, sum, alsoShown, list] = await Promise.all([
    reading,
    readTotal(source, of),
    other,
    readList(source, type, shownCompanion(type, types, 'counter'), period, shown),
  ])
  const recent = source.recent?.of(`${type.recordType} ${of.name}`, sum, source.now.getTime()) ?? null
  return {
    timeZone: period.range.zone.name,
    figures: own.figures,
    chart: chartOf(source, period, own, alsoShown?.history),
    prefix: of.name || null,
    total: toJsonNumber(sum.total),
    ...(alsoShown && { also: { figures: alsoShown.history.figures, total: alsoShown.total } }),
    list,
    recent: recent && { minutes: recent.minutes, count: toJsonNumber(recent.count) },
  }
}

/** What the page adds up: all counters of the type, or those of a prefix, if they are few enough. */
async function shownSum({ db, asked: { find } }: Source, { recordType, prefixes }: CounterType, period: ChosenPeriod) {
  const all = await sumOf(recordType, null)
  if (!prefixes.includes(find)) return all
  try {
    // The figures and the chart have most rows in common.
    await checkPrefix(db, { recordType, name: find }, { rows: Math.max(FIGURE_ROWS, period.range.edges.length) })
    return await sumOf(recordType, find)
  } catch (error) {
    if (error instanceof TooManyKeys) return all
    throw error
  }
}

function readTotal({ db, config: { ranges }, recent }: Source, of: SumOf) {
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

/**
 * The numbers of a counter's page, pending counts included.
 * @param types as of `typeNumbers`
 * @throws {InvalidInput} if the period, the time zone or the key is not valid
 */
export async function counterNumbers(
  source: Source,
  addresses: AddressCache,
  { type, key, types }: { type: CounterType; key: string; types: readonly CounterType[] },
) {
  const period = periodOf(source)
  const read = async (of: CounterType) => {
    const counter = await counterOfKey(addresses, of, key)
    const [history, [reading]] = await Promise.all([
      readHistory(source, period, historyOfCounter(source.db, counter, hoursSince(source))),
      readCounters(source.db, [counter]),
    ])
    return { history, reading: reading! }
  }
  const also = shownCompanion(type, types, 'counter')
  const [own, other] = await Promise.all([read(type), also && read(also)])
  const { total, pending, rolledUpAt } = own.reading
  return {
    timeZone: period.range.zone.name,
    figures: own.history.figures,
    chart: chartOf(source, period, own.history, other?.history),
    total: toJsonNumber(countIn(own.reading)),
    rolled: toJsonNumber(total),
    pending: toJsonNumber(pending!),
    rolledUpAt: rolledUpAt?.toISOString() ?? null,
    adjustments: own.history.units.adjustments.map(({ at, kind, count }) => {
      return { at: at.toISOString(), kind, count: toJsonNumber(count) }
    }),
    ...(other && { also: { figures: other.history.figures, total: toJsonNumber(countIn(other.reading)) } }),
  }
}

/** Since when every day that was counted has its hours. The day before is not expired yet in any case. */
function hoursSince({ now, config }: Source): number {
  return now.getTime() - (config.history.hourDays - 1) * DAY_MS
}
