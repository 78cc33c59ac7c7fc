import { visibleKey } from '../../visible-key.ts'
import { basePath } from './address.ts'
import { ask } from './api.ts'
import { KEEPS_TRYING, messageOf } from './api-error.ts'
import type { Count } from './counts.ts'
import { showUnits, type Unit } from './counts.ts'
import { byId, setText, unitOf } from './elements.ts'
import { poll } from './polling.ts'

/** With the page's other requests, six a minute. */
const EVERY_MS = 20_000

interface FirstRun {
  /** The first counter, which has been rolled up; `null`: nothing has been counted. */
  first: { key: string; count: Count } | null
  /** Why the latest hit did not count. */
  refused: string
}

/**
 * Shows the steps to the first hit instead of numbers, as long as there are none.
 * @param arrived called when the first hit has been rolled up
 * @returns to be called with each new numbers, and whether they are empty
 */
export function firstRunOf(type: string, arrived: () => void): (isEmpty: boolean) => void {
  const section = byId('first-run')
  const main = document.querySelector('main')!
  let began = false
  let shown = false
  let wereReset = false
  const look = async () => {
    try {
      const query = new URLSearchParams({ type })
      const { first, refused } = await ask<FirstRun>('POST', `${basePath()}/first-run?${query}`)
      // Counters that were set to zero are no first hit, and the page shows that it has no numbers.
      wereReset = first !== null && BigInt(first.count) === 0n
      section.hidden = wereReset
      if (wereReset) main.classList.remove('empty')
      setText('first-run-state', first === null ? 'Waiting for the first hit …' : lineOf(first, unitOf(main)))
      setText('first-run-refused', refused)
      if (first === null) return 'changed'
      section.classList.add('done')
      arrived()
      return 'done'
    } catch (error) {
      section.hidden = false
      setText('first-run-state', messageOf(error, KEEPS_TRYING))
      return 'failed'
    }
  }
  return (isEmpty) => {
    main.classList.toggle('empty', isEmpty && !wereReset)
    if (isEmpty && !began) poll(EVERY_MS, look)
    // "Just now" is true until there is more.
    if (shown) section.hidden = true
    began ||= isEmpty
    shown ||= began && !isEmpty
  }
}

function lineOf({ key, count }: { key: string; count: Count }, unit: Unit): string {
  return `${visibleKey(key)}, ${showUnits(count, unit)}, just now`
}
