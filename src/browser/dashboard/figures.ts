import { byId } from './elements.ts'
import { showCount, showGrowth } from './format-counts.ts'
import { showClock } from './format-time.ts'
import type { Compared, Numbers } from './numbers.ts'

/**
 * Shows the figures: today, 7 days, 30 days and all time.
 *
 * @param prefix the beginning of the elements' ids
 */
export function showFigures({ figures, total }: Pick<Numbers, 'figures' | 'total'>, prefix = 'figure'): void {
  for (const name of ['today', '7d', '30d'] as const) {
    setText(`${prefix}-${name}`, showCount(figures[name].count))
    setText(`${prefix}-${name}-change`, changeOf(figures[name]))
    // Without its context, a percentage says little to those who only hear it.
    byId(`${prefix}-${name}-change`).title = compared(figures[name])
  }
  setText(`${prefix}-all`, showCount(total))
}

/** What changes compare, in a sentence. */
export function compareNote({ until }: Pick<Numbers, 'until'>): string {
  return `Changes compare up to ${showClock(new Date(until))} with the same part of the period before.`
}

/** The change of a period in per cent. */
export function changeOf({ compared, before }: Compared): string {
  return showGrowth(compared, before)
}

function compared({ compared, before }: Compared): string {
  return compared === null || before === null ? '' : `${showCount(compared)} after ${showCount(before)}`
}

/** Sets a text if it is another one, so that selected text stays selected and nothing is read twice. */
export function setText(id: string, text: string): void {
  const { firstChild, childNodes } = byId(id)
  if (childNodes.length === 1 && firstChild instanceof Text) {
    if (firstChild.data !== text) firstChild.data = text
  } else if (text !== '') byId(id).textContent = text
}
