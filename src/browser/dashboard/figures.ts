import { byId } from './elements.ts'
import { showCount, showGrowth } from './format-counts.ts'
import { showClock } from './format-time.ts'
import type { ComparedPeriod, Numbers } from './numbers.ts'

/** @param prefix the beginning of the elements' ids */
export function showFigures({ figures, total }: Pick<Numbers, 'figures' | 'total'>, prefix = 'figure'): void {
  for (const name of ['today', '7d', '30d'] as const) {
    setText(`${prefix}-${name}`, showCount(figures[name].count))
    showGrowthOf(`${prefix}-${name}-change`, figures[name])
  }
  setText(`${prefix}-all`, showCount(total))
}

/** Shows the change of a period, followed by `against`, and in its title what is compared. */
export function showGrowthOf(id: string, period: ComparedPeriod, against = ''): void {
  const growth = showGrowth(period)
  setText(id, growth && growth + against)
  const { compared, before, until } = period
  const span = until === null ? '' : upTo(new Date(until))
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
