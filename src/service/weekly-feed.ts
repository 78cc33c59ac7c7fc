import type { CounterType } from '../config/counter-types.ts'
import { DAY_MS, dayText, startOf } from '../counters/calendar.ts'
import { differenceOf, type Selection, selectionOf } from '../counters/history/selection.ts'
import { readSumHistory } from '../counters/read/read-sum.ts'
import type { Caller } from './caller.ts'
import { chosenPeriod, comparedSpans } from './chosen-period.ts'
import { firstHour } from './history.ts'
import { readPeriods } from './period-counts.ts'
import { readTop, unlessTooMany } from './ranking.ts'

/** How many weeks before the present one a feed has. For each, two rankings add up rows. */
const WEEKS = [1, 2]
const MAX_KEYS = 5

export type Week = Awaited<ReturnType<typeof readWeeks>>[number]

/**
 * The last whole weeks of a type since counting began, in UTC and newest first: their counts and those of the week before, and the
 * counters that lead and that rose most; `null` if there are too many rows to add up.
 */
export async function readWeeks(caller: Caller, type: CounterType, now: Date) {
  const [of, hoursFrom] = [{ recordType: type.recordType, name: '' }, firstHour(caller.isolate.config)]
  const monday = startOf('week', now).getTime()
  const day = (days: number) => dayText(monday + days * DAY_MS)
  const weeks = WEEKS.map((back) =>
    chosenPeriod({ name: 'custom', from: day(-7 * back), to: day(6 - 7 * back) }, 'UTC', now),
  )
  const read = (selections: readonly Selection[]) => readSumHistory(caller.db, of, { selections, hoursFrom })
  const { compared } = await readPeriods(read, weeks, now.getTime())
  const all = weeks.map(async (week, place) => {
    const spans = comparedSpans(week, now.getTime())!.byHour
    const [inWeek, before] = [selectionOf(spans.current), selectionOf(spans.before)]
    const top = (selection: Selection) =>
      unlessTooMany(readTop(caller, of, selection, MAX_KEYS).then(({ counters }) => counters))
    const [leading, rising] = await Promise.all([top(inWeek), top(differenceOf(inWeek, before))])
    const [first, last, end] = [week.from, week.to - 1, week.to].map(dayText) as [string, string, string]
    return { first, last, end, ...compared[place]!, leading, rising }
  })
  return (await Promise.all(all)).filter(({ count, before }) => count !== 0n || before !== null)
}
