import { byId } from './elements.ts'
import { showCount, showGrowth } from './format-counts.ts'
import type { Numbers } from './numbers.ts'

/**
 * Shows the figures: today, 7 days, 30 days and all time.
 *
 * @param prefix the beginning of the elements' ids
 */
export function showFigures({ figures, total }: Pick<Numbers, 'figures' | 'total'>, prefix = 'figure'): void {
  for (const name of ['today', '7d', '30d'] as const) {
    const { count, compared, before } = figures[name]
    setText(`${prefix}-${name}`, showCount(count))
    setText(`${prefix}-${name}-change`, showGrowth(figures[name]))
    // Without its context, a percentage says little to those who only hear it.
    byId(`${prefix}-${name}-change`).title =
      compared === null || before === null ? '' : `${showCount(compared)} after ${showCount(before)}`
  }
  setText(`${prefix}-all`, showCount(total))
}

/** Sets a text if it is another one, so that selected text stays selected and nothing is read twice. */
export function setText(id: string, text: string): void {
  const { firstChild, childNodes } = byId(id)
  if (childNodes.length === 1 && firstChild instanceof Text) {
    if (firstChild.data !== text) firstChild.data = text
  } else if (text !== '') byId(id).textContent = text
}
