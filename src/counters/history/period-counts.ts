import { DAY_MS, HOUR_MS, startOf } from '../calendar.ts'
import { type ChosenPeriod, type Comparison, comparedSpans, type Span } from './comparison.ts'
import { type HistoryRange, periodAt, periodOfDay } from './history-range.ts'
import type { Adjustment, HistoryReader, HistoryRows } from './read-history.ts'
import {
  remainderOf,
  type Selection,
  type Sums,
  selectionOf,
  sourcesOfSelections,
  sumSelection,
  sumsOf,
} from './selection.ts'
import { daysOf, type HistoryRow, type HistorySource, joinSources, sourcesOf, sumPeriods } from './sum-periods.ts'

/** A count, and what of it is compared with the same part of the predecessor; `null`: nothing can be compared. */
export interface Compared {
  count: bigint
  compared: bigint | null
  before: bigint | null
  spans: Comparison | null
}

/** What a chart shows of a period. */
export interface Units {
  /** When each unit begins, in milliseconds since 1970. */
  starts: number[]
  counts: bigint[]
  /** The count of the same part of the predecessor; `null`: it has none, such as an hour that its clocks skip. */
  previous: (bigint | null)[]
  imported: boolean[]
  /** The index of the unit that is not over; `null`: the period is over. */
  running: number | null
  /** Those in the period. */
  adjustments: Adjustment[]
}

/**
 * Counts periods and what is compared of them, and reads the units of the last one, all from one snapshot. The count of a period
 * without a predecessor is not read: take that of its units.
 */
export async function readPeriods(
  { readRows, hoursSince }: HistoryReader,
  periods: readonly ChosenPeriod[],
  now: number,
): Promise<{ compared: Compared[]; units: Units }> {
  const shown = periods.at(-1)!
  const selections = periods.flatMap((period) => {
    const spans = comparedSpans(period, now)
    if (spans === null) return []
    const { byHour, byDay, cutDays } = spans
    const days = [byHour.before.firstDay, ...cutDays]
    return [
      ...[period, byHour.current, byHour.before, byDay.current, byDay.before].map(selectionOf),
      ...days.map(remainderOf),
    ]
  })
  const sources = [...unitSources(shown, hoursSince), ...sourcesOfSelections(selections)]
  const read = await readRows(shown.range, joinSources(sources))
  const sums = sumsOf(read.rows)
  return {
    compared: periods.map((period) => comparedOf(period, sums, read, now)),
    units: unitsOf(shown, read, hoursSince, now),
  }
}

function comparedOf(period: ChosenPeriod, sums: Sums, { pending, begun }: HistoryRows, now: number): Compared {
  const sum = (selection: Selection) => sumSelection(selection, sums)
  const isWithoutHour = (day: number) => sum(remainderOf(day)) !== 0n
  const hasBegun = ({ from, firstDay }: Span) =>
    begun <= from ||
    isWithoutHour(firstDay) ||
    sum({ parts: [], hours: [{ sign: '+', from, to: from + HOUR_MS }] }) > 0n
  const count = sum(selectionOf(period))
  const possible = comparedSpans(period, now)
  const spans = possible && (possible.cutDays.some(isWithoutHour) ? possible.byDay : possible.byHour)
  const compared = spans !== null && hasBegun(spans.before) ? spans : null
  return {
    count: now >= period.from && now < period.to ? count + (pending ?? 0n) : count,
    compared: compared && sum(selectionOf(compared.current)),
    before: compared && sum(selectionOf(compared.before)),
    spans: compared,
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

/** The units of a period, and the same parts of its predecessor. */
function unitsOf(
  period: ChosenPeriod,
  { rows, pending, adjustments }: HistoryRows,
  hoursSince: number,
  now: number,
): Units {
  const { range, first, earlier, from, to } = period
  const counts = sumPeriods(range, rows)
  const current = periodAt(range, now)
  if (current !== undefined) counts[current]! += pending ?? 0n
  // Hours of the clock come twice when it is put back. Then the first ones take all.
  let place = 0
  const places = range.edges.slice(first).map((edge) => {
    if (earlier !== null) place = Math.max(place, periodAt(range, earlier(edge))!)
    return place
  })
  const imported = importedUnits(range, rows, hoursSince)
  const starts = range.edges.slice(first, -1)
  return inUnitsOf(period, {
    starts,
    counts: counts.slice(first),
    previous: starts.map((_, index) => {
      const [begin, end] = [places[index], places[index + 1]]
      return begin === end ? null : counts.slice(begin, end).reduce((sum, count) => sum + count, 0n)
    }),
    imported: starts.map((_, index) => imported.has(first + index)),
    running: current === undefined ? null : current - first,
    adjustments: adjustments.filter(({ at }) => at.getTime() >= from && at.getTime() < to),
  })
}

/** The weeks or months of a period's days, if its chart has these. The first and the last one may be shorter. */
function inUnitsOf({ by, range }: ChosenPeriod, days: Units): Units {
  if (by === range.by) return days
  const dateOf = (start: number) => startOf(by, new Date(range.zone.dateAt(start))).getTime()
  const groups = [...Map.groupBy(days.starts.keys(), (index) => dateOf(days.starts[index]!)).values()]
  const sumOf = (counts: readonly (bigint | null)[], group: readonly number[]) =>
    group.reduce<bigint | null>((sum, index) => (counts[index] === null ? sum : (sum ?? 0n) + counts[index]!), null)
  return {
    starts: groups.map((group) => days.starts[group[0]!]!),
    counts: groups.map((group) => sumOf(days.counts, group)!),
    previous: groups.map((group) => sumOf(days.previous, group)),
    imported: groups.map((group) => group.some((index) => days.imported[index])),
    running: days.running === null ? null : groups.findIndex((group) => group.includes(days.running!)),
    adjustments: days.adjustments,
  }
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
