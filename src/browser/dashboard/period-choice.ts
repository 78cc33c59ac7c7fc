import type { View } from './address.ts'
import { byId } from './elements.ts'

/**
 * Starts the tiles, each of which is a period, and the panel with other days.
 * @param choose called with the period that the visitor has chosen
 * @returns presses the tile or the button of a view
 */
export function startPeriodChoice(choose: (period: Omit<View, 'find'>) => void): (view: View) => void {
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
