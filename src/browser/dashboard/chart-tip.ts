import type { View } from '../../periods.ts'
import type { Unit } from '../../units.ts'
import { element } from './elements.ts'
import { directionOf, noonOf, showBriefly, showCount, showDays, showGrowth, showUnits } from './formats.ts'
import type { Adjustment, ChartNumbers, Count } from './numbers-answer.ts'

export interface ChartData extends ChartNumbers {
  of: Unit
  ofAlso: Unit
  shown: View['show']
  /** The sums of the counts that it shows, with their units. */
  sums: string
  adjustments: readonly Adjustment[]
}

/** The first and the last day of a unit. */
export function daysOf({ points, last }: ChartNumbers, index: number): [first: string, last: string] {
  const next = points[index + 1]
  const first = dayOf(points[index]!.start)
  if (next === undefined) return [first, last]
  const end = addDays(dayOf(next.start), -1)
  // Hours: the next one begins on the same day.
  return [first, end < first ? first : end]
}

/** What the tip says of a unit: its counts and its time, and of the period before, the same with the change. */
export function tipLines(data: ChartData, index: number): (Node | string)[][] {
  const { by, running, of, ofAlso, shown } = data
  const { count, also, start } = data.points[index]!
  const [first, last] = daysOf(data, index)
  const counts = [
    ...(shown === 'also' ? [] : unitsOf(count!, of)),
    ...(shown === 'both' ? [' · '] : []),
    ...(shown === '' ? [] : unitsOf(also!, ofAlso)),
  ]
  const lines = [[...counts, ` · ${nameOf(by, first, last, start)}${index === running ? ', so far' : ''}`]]
  const { compared, before } = comparedOf(data, index)
  if (before === null) return lines
  const [from, to] = [first, last].map((day) => dayBefore(data, day)) as [string, string]
  const when = `${by === 'hour' || by === 'day' || from === to ? 'on' : 'in'} ${nameOf(by, from, to, from + start.slice(10))}`
  const span = index === running ? ' up to the same hour' : ''
  const growth = showGrowth({ compared, before })
  const change = element('span', { class: `growth ${directionOf(growth)}` }, growth)
  return [...lines, [`${showCount(before)} ${when}${span} `, change]]
}

/** A count with its unit, the digits in bold. */
function unitsOf(count: Count, unit: Unit): (Node | string)[] {
  const [text, digits] = [showUnits(count, unit), showCount(count)]
  return text.startsWith(digits) ? [element('b', {}, digits), text.slice(digits.length)] : [element('b', {}, text)]
}

/** What of a unit is compared: of one that is not over, its last full hour is the end, as of the whole period. */
function comparedOf(data: ChartData, index: number): { compared: Count | null; before: Count | null } {
  const { points, running, until, shown } = data
  const { count, before = null } = points[index]!
  if (shown === 'also' || before === null) return { compared: null, before: null }
  if (index !== running) return { compared: count, before }
  // Before its first full hour is over, nothing can be compared.
  const none = !until || new Date(until) <= new Date(points[index]!.start)
  if (none || data.compared === null || data.before === null) return { compared: null, before: null }
  const rest = (whole: Count, part: 'count' | 'before') =>
    String(points.slice(0, index).reduce((left, point) => left - BigInt(point[part] ?? 0), BigInt(whole)))
  return { compared: rest(data.compared, 'count'), before: rest(data.before, 'before') }
}

/** A unit's time: a whole month, or one that runs, by its name; other parts of the calendar by their days. */
function nameOf(by: ChartNumbers['by'], first: string, last: string, start: string): string {
  if (by === 'hour') return showBriefly(new Date(start.slice(0, 16)), 'hour')
  if (by === 'day' || first === last) return showBriefly(noonOf(first), 'day')
  return by === 'month' && first.endsWith('-01') ? showBriefly(noonOf(first), 'month') : showDays(first, last)
}

/** The day that is compared with another: of months, in the year before. */
function dayBefore({ first, beforeFirst }: ChartNumbers, day: string): string {
  const before = beforeFirst ?? first
  if (before.slice(4) === first.slice(4)) {
    return `${Number(day.slice(0, 4)) - Number(first.slice(0, 4)) + Number(before.slice(0, 4))}${day.slice(4)}`
  }
  return addDays(day, (Date.parse(before) - Date.parse(first)) / 86_400_000)
}

const dayOf = (start: string) => start.slice(0, 10)

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
}
