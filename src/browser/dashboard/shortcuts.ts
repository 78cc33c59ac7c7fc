import type { View } from './address.ts'
import { byId, withStorage } from './elements.ts'

const PERIODS: Record<string, View['period']> = { t: 'today', w: '7d', m: '30d', y: '12m' }

/** Set in the browser's storage if its user has turned the keys off. */
const OFF = 'no-shortcuts'

/** Starts the single keys and their dialog, which can turn them off for those who press keys by accident (WCAG 2.1.4). */
export function startShortcuts(change: (view: Partial<View>) => void): void {
  const dialog = byId<HTMLDialogElement>('shortcuts')
  const uses = byId<HTMLInputElement>('use-shortcuts')
  uses.checked = withStorage(() => localStorage.getItem(OFF)) === null
  uses.addEventListener('change', () => {
    withStorage(() => (uses.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, '')))
  })
  const open = () => {
    // First: the focus goes back to its button, and there again after the dialog.
    byId('menu').hidePopover()
    dialog.showModal()
  }
  byId('show-shortcuts').addEventListener('click', open)
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (!uses.checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
    if ((target as Element).matches('input, select, textarea') || document.querySelector('dialog[open]')) return
    const period = PERIODS[key.toLowerCase()]
    const field = key === '/' && document.getElementById('find')
    if (period !== undefined) change({ period, from: '', to: '' })
    else if (field) field.focus()
    else if (key === '?') open()
    else return
    event.preventDefault()
  })
}
