import type { CounterType } from '../config/counter-types.ts'
import { DAY_MS, dayText } from '../counters/calendar.ts'
import { historyRange, knownTimeZone } from '../counters/history/history-range.ts'
import { countsOf, readRows } from '../counters/history/read-history.ts'
import { differenceOf, selectionOf, selectionsOf, sumOf } from '../counters/history/selection.ts'
import { countIn } from '../counters/read/read-counters.ts'
import { MAX_PENDING_OF_TYPE, readSum, readSumHistory, type Sum } from '../counters/read/read-sum.ts'
import type { Caller } from './caller.ts'
import { type ChosenPeriod, chosenPeriod, comparedSpans, FIRST_DAY } from './chosen-period.ts'
import { firstHour } from './history.ts'
import { comparison, shownCompanion } from './page-numbers.ts'
import { readPeriods } from './period-counts.ts'
import { readTop, unlessTooMany } from './ranking.ts'

/** The most types with a row. Each takes up to four statements, and a request of the free plan may send 50. */
const MAX_TYPES = 6
const MAX_CHANGED = 5
const YEAR_DAYS = 365

export type StartNumbers = Awaited<ReturnType<typeof startNumbers>>

/** The types that have a tab: not those that another one names in `also`, whose figures the other one shows. */
export const ownTypes = (types: readonly CounterType[]) =>
  types.filter((type) => !types.some(({ also }) => also.includes(type)))

/**
 * The numbers of the first page: a row for each type, and of the first type that has counted, what rises and falls, the best day and the
 * next round number. @param tz the visitor's time zone @param types those that the visitor may see
 */
export async function startNumbers(caller: Caller, tz: string, now: Date, types: readonly CounterType[]) {
  const zone = knownTimeZone(tz)
  const day = (days: number) => dayText(zone.dateAt(now.getTime()) + days * DAY_MS)
  const week = chosenPeriod({ name: 'custom', from: day(-7), to: day(-1) }, tz, now)
  const periods = [chosenPeriod({ name: 'today' }, tz, now), chosenPeriod({ name: 'yesterday' }, tz, now), week]
  const own = ownTypes(types)
  const rows = await Promise.all(
    own.slice(0, MAX_TYPES).map((type) => readRow(caller, now, type, shownCompanion(type, types, 'type'), periods)),
  )
  const lead = rows.find(({ total, points }) => total !== 0n || points.some((count) => count !== 0n))
  const [best, changes] = lead
    ? await Promise.all([readBestDay(caller, lead, now), readChanges(caller, lead.type, week, now)])
    : []
  return {
    timeZone: zone.name,
    asOf: zone.clockTime(now.getTime()),
    rows,
    /** Types without a row, because there are too many. */
    left: own.length - rows.length,
    pending: rows.some(({ pending }) => pending === null) ? null : 0n,
    lead: lead ? { type: lead.type, round: nextRound(lead), best: best!, ...changes! } : null,
  }
}

type Row = Awaited<ReturnType<typeof readRow>>

/** The figures of a type, pending counts included. @param periods today, yesterday and the last seven whole days */
async function readRow(
  { db, isolate: { config } }: Caller,
  now: Date,
  type: CounterType,
  also: CounterType | undefined,
  periods: ChosenPeriod[],
) {
  const [of, hoursFrom, week] = [{ recordType: type.recordType, name: '' }, firstHour(config), periods.at(-1)!]
  const month = historyRange({ by: 'day', timeZone: week.range.zone.name }, now)
  const days = selectionsOf(month)
  const sums: Sum[] = []
  const reading = readPeriods(
    async (selections) => {
      const history = { selections: [...selections, ...days], hoursFrom }
      const asked = { withTotal: true, history, mostPending: MAX_PENDING_OF_TYPE }
      sums.push(await readSum(db, of, asked, db.ranges))
      return { ...sums[0]!, adjustments: [] }
    },
    periods,
    now.getTime(),
  )
  const inWeek = selectionOf(week)
  const [{ compared }, visited] = await Promise.all([
    reading,
    also && readSumHistory(db, { recordType: also.recordType, name: '' }, { selections: [inWeek], hoursFrom }),
  ])
  const sum = sums[0]!
  return {
    type,
    visitors: also && visited && { type: also, count: sumOf(inWeek, visited.counts) },
    points: countsOf(month, days, sum, now.getTime()),
    figures: periods.map((period, place) => comparison(period, compared[place]!)),
    total: countIn(sum),
    pending: sum.pending,
  }
}

/** The next round number of all time, and in how many days it is reached at the pace of the last seven whole days. */
function nextRound({ total, figures }: Row): { count: bigint; days: number } | null {
  const pace = figures.at(-1)!.count
  if (total <= 0n || pace <= 0n) return null
  const power = 10n ** BigInt(Math.max(1, String(total).length - 1))
  const count = (total / power + 1n) * power
  const days = Number(((count - total) * 7n + pace - 1n) / pace)
  return days > YEAR_DAYS ? null : { count, days }
}

/** The day in UTC with the highest count in a year. Elsewhere, each day would take some hours more. `null`: nothing was counted */
async function readBestDay({ db, isolate }: Caller, { type: { recordType }, pending }: Row, now: Date) {
  const from = dayText(now.getTime() - (YEAR_DAYS - 1) * DAY_MS)
  const range = historyRange({ by: 'day', timeZone: 'UTC', from }, now)
  const selections = selectionsOf(range)
  const asked = { selections, hoursFrom: firstHour(isolate.config) }
  const { counts } = await readSumHistory(db, { recordType, name: '' }, asked)
  const days = countsOf(range, selections, { counts, pending }, now.getTime())
  const best = days.reduce((best, count, place) => (count > days[best]! ? place : best), 0)
  const [count, isToday] = [days[best]!, best === days.length - 1]
  return count > 0n ? { day: dayText(range.edges[best]!), count, isToday } : null
}

/** The counters that changed most from a week to the next, those that rose most first. `null`: too many rows to add up */
async function readChanges(caller: Caller, { recordType }: CounterType, week: ChosenPeriod, now: Date) {
  const { current, before } = comparedSpans(week, now.getTime())!.byHour
  const [last, earlier] = [selectionOf(current), selectionOf(before)]
  const differences = [differenceOf(last, earlier), differenceOf(earlier, last)]
  const top = differences.map((each) => readTop(caller, { recordType, name: '' }, each, MAX_CHANGED))
  const ranked = await unlessTooMany(Promise.all(top))
  if (ranked === null) return { rising: null, falling: null }
  const all = ranked.flatMap(({ counters }) => counters)
  const counters = [...new Map(all.map((each) => [each.recordId, each])).values()]
  // A counter is new if nothing of it was counted before.
  const begin = selectionOf({ from: FIRST_DAY, to: current.from, firstDay: FIRST_DAY, nextDay: current.firstDay })
  const asked = { charts: selectionsOf(week.range), hoursFrom: firstHour(caller.isolate.config) }
  const rows =
    counters.length === 0 ? [] : await readRows(caller.db, counters, { sums: [last, earlier, begin], ...asked })
  const changed = rows.map(({ sums: [count = 0n, before = 0n, begun], charts: points }, place) => {
    const isNew = begun === 0n && count > 0n
    return { key: counters[place]!.name, count, before, difference: count - before, isNew, points }
  })
  // Rankings may be a minute old, counts are not.
  changed.sort((a, b) => Number(b.difference - a.difference))
  const rising = changed.filter(({ difference }) => difference > 0n)
  const falling = changed.filter(({ difference }) => difference < 0n).reverse()
  return { rising: rising.slice(0, MAX_CHANGED), falling: falling.slice(0, MAX_CHANGED) }
}
