import type { View } from './address.ts'
import { directionOf, showCount, showGrowth, showUnits, type Unit } from './counts.ts'
import { byId, setText } from './elements.ts'
import { showClock } from './format-time.ts'
import type { ComparedPeriod, Numbers } from './numbers.ts'

const COMPARED = ['today', '7d', '30d', '12m'] as const

/**
 * Starts the tiles, each of which is a period, and the panel with other days.
 * @param choose called with the period that the visitor has chosen
 * @returns presses the tile or the button of a view
 */
export function startPeriodChoice(
  choose: (period: Pick<View, 'period' | 'from' | 'to'>) => void,
): (view: View) => void {
  const buttons = byId('period').querySelectorAll<HTMLButtonElement>('button[value]')
  // Public pages have no other days.
  const other = document.querySelector<HTMLButtonElement>('#other-days')
  const form = document.querySelector<HTMLFormElement>('#days')
  const [first, last] = document.querySelectorAll<HTMLInputElement>('#days input')
  const open = (is: boolean) => {
    form?.toggleAttribute('hidden', !is)
    other?.setAttribute('aria-expanded', String(is))
  }
  for (const button of buttons) {
    button.addEventListener('click', () => choose({ period: button.value as View['period'], from: '', to: '' }))
  }
  other?.addEventListener('click', () => {
    open(form!.hasAttribute('hidden'))
    if (!form!.hidden) form!.querySelector('button')!.focus()
  })
  form?.addEventListener('input', () => last!.setCustomValidity(''))
  form?.addEventListener('submit', (event) => {
    event.preventDefault()
    const [from, to] = [first!.value, last!.value]
    last!.setCustomValidity(to < from ? 'Must not be before the first day.' : '')
    if (form.reportValidity()) choose({ period: 'custom', from, to })
  })
  return ({ period, from, to }) => {
    let among = period === 'custom'
    for (const button of buttons) {
      const isChosen = button.value === period
      button.setAttribute('aria-pressed', String(isChosen))
      among ||= isChosen && button.form !== null
    }
    other?.setAttribute('aria-pressed', String(among))
    open(among)
    if (period !== 'custom' || !first || !last) return
    first.value = from
    last.value = to
  }
}

/** Shows the figures in the tiles. @param of what the second figure of a tile counts */
export function showFigures({ figures, total, also }: Numbers, of: Unit): void {
  for (const name of COMPARED) {
    setText(`figure-${name}`, showCount(figures[name].count))
    showGrowthOf(`figure-${name}-change`, figures[name])
  }
  setText('figure-all', showCount(total))
  // Pages whose type has no such figures have no places for them.
  if (document.getElementById('also-all') === null) return
  for (const name of COMPARED) setText(`also-${name}`, also ? showUnits(also.figures[name].count, of) : '')
  setText('also-all', also ? showUnits(also.total, of) : '')
}

/** Shows the change of a period in its color, followed by `against`, and in its title what is compared. */
export function showGrowthOf(id: string, period: ComparedPeriod, against = ''): void {
  const growth = showGrowth(period)
  setText(id, growth && growth + against)
  const { compared, before, until } = period
  const end = new Date(until ?? 0)
  const isMidnight = end.getHours() === 0 && end.getMinutes() === 0
  const span = until === null ? '' : `, both up to ${isMidnight ? 'the end of yesterday' : showClock(end)}`
  byId(id).className = `growth ${directionOf(growth)}`
  byId(id).title = growth && `${showCount(compared!)} after ${showCount(before!)}${span}`
}
