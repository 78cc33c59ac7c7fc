import { ask, messageOf, path, type Status } from './api.ts'
import { byId, element } from './elements.ts'
import type { Count } from './exact-json.ts'
import { showCount } from './format-counts.ts'
import { showAgo } from './format-time.ts'
import { poll } from './polling.ts'

const EVERY_MS = 5_000
/** The maximum number of runs per click, so that it ends on a busy site too. */
const MAX_RUNS = 50

/**
 * Starts the bar at the top, which shows the pending slots and how far the roll-up is behind.
 *
 * The numbers are not a live region: they change every few seconds, and a screen reader would read nothing else.
 *
 * @param rolledUp called after the visitor has rolled up
 */
export function startRollUpBar(rolledUp: () => void): void {
  // Those who may not see all types have no bar, and only those who may change something have the button.
  if (document.getElementById('pending') === null) return
  const message = byId('live-message')
  const polling = poll(EVERY_MS, async () => {
    try {
      show(await ask<Status>('GET', path(['status'])))
      return true
    } catch (error) {
      byId('lag').textContent = messageOf(error)
      return false
    }
  })
  const button = document.querySelector<HTMLButtonElement>('#roll-up')
  button?.addEventListener('click', async () => {
    button.disabled = true
    message.textContent = 'Rolling up …'
    try {
      let moved = 0n
      // A run is bounded. The next one continues where it stopped.
      for (let run = 0; run < MAX_RUNS; run++) {
        const summary = await ask<{ outcome: string; moved: Count }>('POST', path(['rollup']))
        moved += BigInt(summary.moved)
        if (summary.outcome !== 'partial') break
        message.textContent = `Rolling up: ${showCount(moved)} so far …`
      }
      message.textContent = `Rolled up ${showCount(moved)}.`
    } catch (error) {
      message.textContent = messageOf(error)
    }
    button.disabled = false
    polling.now()
    rolledUp()
  })
}

function show({ problems = [], pendingSlots, pendingSlotsAtLeast, rollUp }: Status): void {
  byId('pending').textContent =
    pendingSlots === null ? '?' : `${showCount(pendingSlots)}${pendingSlotsAtLeast ? '+' : ''}`
  byId('lag').textContent = lagOf(rollUp)
  const list = byId('problems')
  const details = problems.map(({ detail }) => detail)
  // A screen reader would read an unchanged list again.
  if (details.join() === [...list.children].map(({ textContent }) => textContent).join()) return
  list.replaceChildren(...details.map((detail) => element('li', {}, detail)))
  list.hidden = details.length === 0
}

function lagOf({ running, behindSeconds }: Status['rollUp']): string {
  if (running) return 'running'
  if (behindSeconds !== null) return `caught up ${showAgo(behindSeconds)}`
  return running === null ? 'unknown' : 'has not run yet'
}
