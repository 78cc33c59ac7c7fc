import { ask, messageOf, path, type Status } from './api.ts'
import { byId, element } from './dom.ts'
import { type Count, showCount } from './numbers.ts'
import { type Repeated, repeat } from './repeat.ts'
import { showAgo } from './time.ts'

const EVERY_MS = 5_000
/** Most runs for one press of the button, so that it comes to an end on a busy site as well. */
const MAX_RUNS = 50

/**
 * Keeps the bar at the top up to date: what is pending, and how far the roll-up is behind.
 *
 * Its numbers are no live region: they change every few seconds, and nothing else could be heard.
 *
 * @param rolledUp told when somebody has rolled up by hand
 */
export function startLive(rolledUp: () => void): Repeated {
  const message = byId('live-message')
  const polled = repeat(EVERY_MS, async () => {
    try {
      show(await ask<Status>('GET', path(['status'])))
      return true
    } catch (error) {
      byId('lag').textContent = messageOf(error)
      return false
    }
  })
  const button = byId<HTMLButtonElement>('roll-up')
  button.addEventListener('click', async () => {
    button.disabled = true
    message.textContent = 'Rolling up …'
    try {
      let moved = 0n
      // One run is bounded; the next one starts where it stopped.
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
    polled.now()
    rolledUp()
  })
  return polled
}

function show({ problems = [], pendingSlots, pendingSlotsAtLeast, rollUp }: Status): void {
  byId('pending').textContent =
    pendingSlots === null ? '?' : `${showCount(pendingSlots)}${pendingSlotsAtLeast ? '+' : ''}`
  byId('lag').textContent = lagOf(rollUp)
  const list = byId('problems')
  const details = problems.map(({ detail }) => detail)
  // The same again would be read out again.
  if (details.join() === [...list.children].map(({ textContent }) => textContent).join()) return
  list.replaceChildren(...details.map((detail) => element('li', {}, detail)))
  list.hidden = details.length === 0
}

function lagOf({ running, behindSeconds }: Status['rollUp']): string {
  if (running) return 'running'
  if (behindSeconds !== null) return `caught up ${showAgo(behindSeconds)}`
  return running === null ? 'not known' : 'has not run yet'
}
