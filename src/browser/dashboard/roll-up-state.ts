import { ask, path, type Status } from './api.ts'
import { KEEPS_TRYING, messageOf } from './api-error.ts'
import { byId, element } from './elements.ts'
import type { Count } from './exact-json.ts'
import { setText } from './figures.ts'
import { showCount } from './format-counts.ts'
import { showAgo } from './format-time.ts'
import { type Outcome, poll } from './polling.ts'

const EVERY_MS = 60_000
/** The maximum number of runs per click: on a busy site, slots never run out. */
const MAX_RUNS = 50

/**
 * Starts the dot in the header, which shows the state of the roll-up.
 * @param rolledUp called after the visitor has rolled up
 */
export function startRollUpState(rolledUp: () => void): void {
  // Those who may not see all types have no dot, and only those who may change something have the button.
  const holder = document.querySelector<HTMLDetailsElement>('#state')
  if (holder === null) return
  let last = ''
  const refresh = poll(EVERY_MS, async (): Promise<Outcome> => {
    try {
      const status = await ask<Status>('GET', path('status'))
      show(holder, status)
      const before = last
      last = JSON.stringify([status.problems, status.pendingSlots])
      return last === before ? 'unchanged' : 'changed'
    } catch (error) {
      setText('lag', messageOf(error, KEEPS_TRYING))
      mark(holder, 'unknown', 'State unknown')
      return 'failed'
    }
  })
  holder.addEventListener('toggle', () => {
    if (holder.open) refresh()
  })
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !holder.open) return
    holder.open = false
    holder.querySelector('summary')!.focus()
  })
  document.addEventListener('click', ({ target }) => {
    if (!holder.contains(target as Node)) holder.open = false
  })
  const button = holder.querySelector<HTMLButtonElement>('#roll-up')
  button?.addEventListener('click', async () => {
    button.disabled = true
    setText('live-message', 'Rolling up …')
    try {
      let moved = 0n
      // A run is bounded, and the next one continues.
      for (let run = 0; run < MAX_RUNS; run++) {
        const summary = await ask<{ outcome: string; moved: Count }>('POST', path('rollup'))
        moved += BigInt(summary.moved)
        if (summary.outcome !== 'partial') break
        setText('live-message', `Rolling up: ${showCount(moved)} so far …`)
      }
      setText('live-message', `Rolled up ${showCount(moved)}.`)
    } catch (error) {
      setText('live-message', messageOf(error))
    }
    button.disabled = false
    refresh()
    rolledUp()
  })
}

function show(holder: HTMLElement, { problems = [], pendingSlots, pendingSlotsAtLeast, rollUp }: Status): void {
  setText('pending', pendingSlots === null ? '?' : `${showCount(pendingSlots)}${pendingSlotsAtLeast ? '+' : ''}`)
  setText('lag', lagOf(rollUp))
  if (problems.length === 0) mark(holder, 'well', 'All is well')
  else mark(holder, 'problem', problems.length === 1 ? '1 problem' : `${problems.length} problems`)
  const list = byId('problems')
  const details = problems.map(({ detail }) => detail)
  // Screen readers would repeat an unchanged list.
  if (details.join() === [...list.children].map(({ textContent }) => textContent).join()) return
  list.replaceChildren(...details.map((detail) => element('li', {}, detail)))
  list.hidden = problems.length === 0
}

function mark(holder: HTMLElement, state: 'well' | 'problem' | 'unknown', text: string): void {
  holder.dataset.state = state
  setText('state-text', text)
}

function lagOf({ running, behindSeconds }: Status['rollUp']): string {
  if (running) return 'running'
  if (behindSeconds !== null) return `caught up ${showAgo(behindSeconds)}`
  return running === null ? 'unknown' : 'has not run yet'
}
