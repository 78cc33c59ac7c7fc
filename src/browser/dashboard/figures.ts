import { directionOf, showCount, showGrowth, showUnits, type Unit } from './counts.ts'
import { byId } from './elements.ts'
import { showClock } from './format-time.ts'
import type { ComparedPeriod, Numbers } from './numbers.ts'

const COMPARED = ['today', '7d', '30d', '12m'] as const

/** @param of what the second figure of a tile counts */
export function showFigures({ figures, total, also }: Numbers, of: Unit): void {
  for (const name of COMPARED) {
    setText(`figure-${name}`, showCount(figures[name].count))
    showGrowthOf(`figure-${name}-change`, figures[name])
  }
  setText('figure-all', showCount(total))
  // Pages whose type has no such figures have no places for them.
  if (document.getElementById('also-all') === null) return
  for (const name of COMPARED) {
    setText(`also-${name}`, also === undefined ? '' : showUnits(also.figures[name].count, of))
  }
  setText('also-all', also === undefined ? '' : showUnits(also.total, of))
}

/** Shows the change of a period in its color, followed by `against`, and in its title what is compared. */
export function showGrowthOf(id: string, period: ComparedPeriod, against = ''): void {
  const growth = showGrowth(period)
  setText(id, growth && growth + against)
  const { compared, before, until } = period
  const span = until === null ? '' : upTo(new Date(until))
  byId(id).className = `growth ${directionOf(growth)}`
  byId(id).title = growth && `${showCount(compared!)} after ${showCount(before!)}${span}`
}

function upTo(end: Date): string {
  const isMidnight = end.getHours() === 0 && end.getMinutes() === 0
  return `, both up to ${isMidnight ? 'the end of yesterday' : showClock(end)}`
}

/** Sets a text if it differs, so that selected text stays selected and screen readers do not repeat it. */
export function setText(id: string, text: string): void {
  const { firstChild, childNodes } = byId(id)
  if (childNodes.length === 1 && firstChild instanceof Text) {
    if (firstChild.data !== text) firstChild.data = text
  } else if (text !== '') byId(id).textContent = text
}
