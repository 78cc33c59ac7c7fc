import { basePath, periodParameters, readView } from './address.ts'
import { type Move, moveCounter, newKey } from './api.ts'
import { ApiError, messageOf } from './api-error.ts'
import { byId, element, keyText } from './elements.ts'
import { withStorage } from './storage.ts'

/** What the next page says. `undoes`: it took back an earlier rename, and is not offered again. */
type Done = Move & { undoes?: true }

const STORED = 'slotted-counter-done'

/** Goes to the page of what a change left, in the same period. That page says what was done. */
export function leaveAfter(done: Done): void {
  withStorage(() => sessionStorage.setItem(STORED, JSON.stringify(done)))
  const { action, type, other } = done
  const query = { type, ...(other && { key: other }), ...periodParameters(readView()) }
  location.assign(`${basePath()}/${action === 'delete' ? '' : 'counter'}?${new URLSearchParams(query)}`)
}

/** Says what was done before the page was opened, and offers to undo a rename. */
export function showLastChange(): void {
  // Only those who may change counters have the place for it.
  if (document.getElementById('done') === null) return
  // Browsers may show a page again as it was.
  addEventListener('pagehide', clearDone)
  const stored = withStorage(() => sessionStorage.getItem(STORED))
  if (stored === null) return
  sessionStorage.removeItem(STORED)
  const done = JSON.parse(stored) as Done
  const { action, key, other, undoes } = done
  const said = {
    delete: ['Deleted ', keyText(key), '.'],
    rename: ['Renamed ', keyText(key), undoes ? ' back to ' : ' to ', keyText(other), '.'],
    merge: ['Merged ', keyText(key), ' into ', keyText(other), '.'],
  }
  showDone(said[action], action === 'rename' && !undoes ? undoOf(done) : undefined)
}

function undoOf({ type, key, other, also }: Done): () => Promise<void> {
  const id = newKey()
  return async () => {
    const back = { type, key: other, other: key, also }
    try {
      await moveCounter({ ...back, action: 'rename' }, id)
    } catch (error) {
      // The old key was counted meanwhile.
      if (!(error instanceof ApiError) || error.code !== 'counter_exists') throw error
      await moveCounter({ ...back, action: 'merge' }, id)
    }
    leaveAfter({ ...back, action: 'rename', undoes: true })
  }
}

/**
 * Says above the page what was done, until the next change.
 * @param undo what a button does; if it fails, the button can be used again
 */
export function showDone(what: readonly (string | Node)[], undo?: () => Promise<void>): void {
  const place = byId('done')
  place.replaceChildren(element('span', {}, ...what))
  if (undo !== undefined) {
    const button = element('button', { type: 'button' }, 'Undo')
    button.addEventListener('click', () => {
      button.disabled = true
      undo().catch((error) => showDone([messageOf(error)], undo))
    })
    place.append(button)
  }
  // Screen readers read it, and the button is next.
  place.focus()
}

export function clearDone(): void {
  byId('done').replaceChildren()
}
