import { DAY_MS, HOUR_MS, startOf } from '../calendar.ts'
import { type ChosenPeriod, type Comparison, comparedSpans, type Span } from './comparison.ts'
import { type HistoryRange, periodAt, periodOfDay } from './history-range.ts'
import { type Adjustment, countsOf, type HistoryReader } from './read-history.ts'
import { remainderOf, type Selection, selectionOf, sourcesOfSelections, sumSelection, sumsOf } from './selection.ts'
import { daysOf, type HistoryRow, type HistorySource, joinSources, sourcesOf } from './sum-periods.ts'

/** A count, and what of it is compared with the same part of the predecessor; `null`: nothing can be compared. */
export interface Compared {
  count: bigint
  compared: bigint | null
  before: bigint | null
  spans: Comparison | null
}

/** A unit of a chart. */
export interface Unit {
  /** When it begins, in milliseconds since 1970. */
  start: number
  count: bigint
  /** The count of the same part of the predecessor; `null`: it has none, such as an hour that its clocks skip. */
  previous: bigint | null
  imported: boolean
}

/** What is read of some periods, from one snapshot. */
interface PeriodCounts {
  /** Of each period. The count of a period without a predecessor is not read: take that of its units. */
  compared: Compared[]
  /** Those of the last period. */
  units: Unit[]
  /** Those in the last period. */
  adjustments: Adjustment[]
}

/** Counts periods and what is compared of them, and reads the units of the last one. */
export async function readPeriods(
  { readRows, hoursSince }: HistoryReader,
  periods: readonly ChosenPeriod[],
  now: number,
): Promise<PeriodCounts> {
  const shown = periods.at(-1)!
  const possible = periods.map((period) => comparedSpans(period, now))
  const selections = possible.flatMap((spans, index) => {
    if (spans === null) return []
    const { byHour, byDay, cutDays } = spans
    const days = [byHour.before.firstDay, ...cutDays]
    return [
      ...[periods[index]!, byHour.current, byHour.before, byDay.current, byDay.before].map(selectionOf),
      ...days.map(remainderOf),
    ]
  })
  const sources = [...unitSources(shown, hoursSince), ...sourcesOfSelections(selections)]
  const read = await readRows(shown.range, joinSources(sources))
  const { rows, pending, adjustments, begun } = read
  const sums = sumsOf(rows)
  const sum = (selection: Selection) => sumSelection(selection, sums)
  const isWithoutHour = (day: number) => sum(remainderOf(day)) !== 0n
  const hasBegun = ({ from, firstDay }: Span) =>
    begun <= from ||
    isWithoutHour(firstDay) ||
    sum({ parts: [], hours: [{ sign: '+', from, to: from + HOUR_MS }] }) > 0n
  return {
    compared: periods.map((period, index) => {
      const found = possible[index]!
      const spans = found && (found.cutDays.some(isWithoutHour) ? found.byDay : found.byHour)
      const compared = spans !== null && hasBegun(spans.before) ? spans : null
      return {
        count: sum(selectionOf(period)) + (now >= period.from && now < period.to ? (pending ?? 0n) : 0n),
        compared: compared && sum(selectionOf(compared.current)),
        before: compared && sum(selectionOf(compared.before)),
        spans: compared,
      }
    }),
    units: unitsOf(shown, countsOf(shown.range, read, now), importedUnits(shown.range, rows, hoursSince)),
    adjustments: adjustments.filter(({ at }) => at.getTime() >= shown.from && at.getTime() < shown.to),
  }
}

/** The rows of a period's units, and those that say what was imported of them. */
function unitSources({ range }: ChosenPeriod, hoursSince: number): HistorySource[] {
  const all = daysOf(range)
  const since = { from: Math.max(all.from, Math.ceil(hoursSince / DAY_MS) * DAY_MS), to: all.to }
  const ofDays: HistorySource[] =
    range.by === 'hour' || since.from >= since.to ? [] : [{ unit: 'hours', spans: [since] }]
  const days = range.by === 'month' ? ofDays.map((source): HistorySource => ({ ...source, unit: 'day' })) : []
  return [...sourcesOf(range), ...days, ...ofDays]
}

/** The units of a period, and the same parts of its predecessor. @param counts of its range @param imported indexes of its range */
function unitsOf(
  { by, range, first, earlier }: ChosenPeriod,
  counts: readonly bigint[],
  imported: ReadonlySet<number | undefined>,
): Unit[] {
  // Hours of the clock come twice when it is put back. Then the first ones take all.
  let place = 0
  const places = range.edges.slice(first).map((edge) => {
    if (earlier !== null) place = Math.max(place, periodAt(range, earlier(edge))!)
    return place
  })
  const units = range.edges.slice(first, -1).map((start, index): Unit => {
    const previous = counts.slice(places[index], places[index + 1])
    return {
      start,
      count: counts[first + index]!,
      previous: previous.length === 0 ? null : sumOf(previous),
      imported: imported.has(first + index),
    }
  })
  if (by === range.by) return units
  // Weeks or months of days. The first and the last one may be shorter.
  const dateOf = ({ start }: Unit) => startOf(by, new Date(range.zone.dateAt(start))).getTime()
  return [...Map.groupBy(units, dateOf).values()].map((days) => {
    const previous = days.flatMap(({ previous }) => previous ?? [])
    return {
      start: days[0]!.start,
      count: sumOf(days.map(({ count }) => count)),
      previous: previous.length === 0 ? null : sumOf(previous),
      imported: days.some(({ imported }) => imported),
    }
  })
}

function sumOf(counts: readonly bigint[]): bigint {
  return counts.reduce((sum, count) => sum + count, 0n)
}

/** The indexes of the units of which part was imported. */
function importedUnits(range: HistoryRange, rows: readonly HistoryRow[], hoursSince: number): Set<number | undefined> {
  const [whole, hours] = range.by === 'hour' ? ['day', 'hour'] : [range.by, 'hours']
  const rests = new Map<number, bigint>()
  for (const { unit, start, count, imported = 0n } of rows) {
    const day = Math.floor(start / DAY_MS) * DAY_MS
    const beyondHours = day < hoursSince ? 0n : unit === 'day' ? count : unit === hours ? -count : 0n
    const rest = beyondHours + (unit === whole ? imported : 0n)
    if (rest !== 0n) rests.set(day, (rests.get(day) ?? 0n) + rest)
  }
  return new Set([...rests].filter(([, rest]) => rest > 0n).map(([day]) => periodOfDay(range, day)))
}
