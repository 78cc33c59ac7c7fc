import type { View } from './address.ts'
import { ask, path } from './api.ts'
import { KEEPS_TRYING, messageOf } from './api-error.ts'
import { type Count, showCount } from './counts.ts'
import { byId, element, setText, startWork, withStorage } from './elements.ts'
import { showAgo } from './format-time.ts'
import type { Numbers } from './numbers.ts'
import { type Outcome, poll } from './polling.ts'

const EVERY_MS = 60_000
/** The maximum number of runs per click: on a busy site, slots never run out. */
const MAX_RUNS = 50

/** The Worker's status. `null`: the database did not report it. */
interface Status {
  problems?: { detail: string }[]
  pendingSlots: number | null
  pendingSlotsAtLeast: boolean
  rollUp: { running: boolean | null; behindSeconds: number | null }
}

const PERIODS: Record<string, View['period']> = { t: 'today', w: '7d', m: '30d', y: '12m' }

/** Set in the browser's storage if its user has turned the keys off. */
const OFF = 'no-shortcuts'

let problemCount = 0
let isLive: boolean | null = null
let recent: Numbers['recent']

/** Shows in the header whether numbers could be read, and what was counted in the last minutes. */
export function showLive(live: boolean, counted?: Numbers['recent']): void {
  isLive = live
  recent = counted
  showDot()
}

function showDot(): void {
  const dot = document.getElementById('state')
  // Public pages have none.
  if (dot === null) return
  const counted = problemCount === 0 ? recent : null
  let text = isLive === null ? '' : isLive ? 'Live' : 'Not up to date'
  if (counted) text = `Live · ${showCount(counted.count)}`
  if (problemCount > 0) text = problemCount === 1 ? '1 problem' : `${problemCount} problems`
  dot.dataset.state = problemCount > 0 ? 'problem' : isLive ? 'well' : 'unknown'
  setText('state-text', text)
  setText('state-minutes', counted ? ` in the last ${counted.minutes} min` : '')
}

/** Starts the menu, and the list of problems. A page may be asked to read its numbers again, or to show another view. */
export function startMenu(page: { refresh: () => void; change: (view: Partial<View>) => void }): void {
  startRollUpState(page.refresh)
  startShortcuts(page.change)
}

function startRollUpState(rolledUp: () => void): void {
  // Those who may not see all types do not see it, and only those who may change something have the button.
  if (document.getElementById('pending') === null) return
  let last = ''
  const refresh = poll(EVERY_MS, async (): Promise<Outcome> => {
    try {
      const status = await ask<Status>('GET', path('status'))
      showStatus(status)
      const before = last
      last = JSON.stringify([status.problems, status.pendingSlots])
      return last === before ? 'unchanged' : 'changed'
    } catch (error) {
      setText('lag', messageOf(error, KEEPS_TRYING))
      return 'failed'
    }
  })
  byId('menu').addEventListener('toggle', (event) => {
    if (event.newState === 'open') refresh()
  })
  const button = document.querySelector<HTMLButtonElement>('#roll-up')
  if (button === null) return
  startWork(button, 'live-message', (say) =>
    rollUp(say).finally(() => {
      refresh()
      rolledUp()
    }),
  )
}

async function rollUp(say: (text: string) => void): Promise<string> {
  say('Rolling up …')
  let moved = 0n
  // A run is bounded, and the next one continues.
  for (let run = 0; run < MAX_RUNS; run++) {
    const summary = await ask<{ outcome: string; moved: Count }>('POST', path('rollup'))
    moved += BigInt(summary.moved)
    if (summary.outcome !== 'partial') break
    say(`Rolling up: ${showCount(moved)} so far …`)
  }
  return `Rolled up ${showCount(moved)}.`
}

function showStatus({ problems = [], pendingSlots, pendingSlotsAtLeast, rollUp }: Status): void {
  setText('pending', pendingSlots === null ? '?' : `${showCount(pendingSlots)}${pendingSlotsAtLeast ? '+' : ''}`)
  setText('lag', lagOf(rollUp))
  problemCount = problems.length
  showDot()
  const list = byId('problems')
  const items = problems.map(({ detail }) => element('li', {}, detail))
  // Screen readers would repeat an unchanged list.
  if (list.textContent === items.map(({ textContent }) => textContent).join('')) return
  list.replaceChildren(...items)
  list.hidden = problems.length === 0
}

function lagOf({ running, behindSeconds }: Status['rollUp']): string {
  if (running) return 'running'
  if (behindSeconds !== null) return `caught up ${showAgo(behindSeconds)}`
  return running === null ? 'unknown' : 'has not run yet'
}

/** Starts the single keys and their dialog, which can turn them off for those who press keys by accident (WCAG 2.1.4). */
function startShortcuts(change: (view: Partial<View>) => void): void {
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
