import { ask, messageOf, path } from './api.ts'
import { basePath } from './base-path.ts'
import { byId } from './elements.ts'

/** Milliseconds between two requests for a transfer that takes several. */
const AGAIN_MS = 500

type Action = 'delete' | 'rename' | 'merge'

const TITLES: Record<Action, string> = {
  delete: 'Delete this counter?',
  rename: 'Rename this counter?',
  merge: 'Merge this counter into another one?',
}
const VERBS: Record<Action, string> = { delete: 'Delete', rename: 'Rename', merge: 'Merge' }

/** Starts the forms that delete, rename and merge a counter. A dialog asks for confirmation. */
export function startMoveForms(type: string, key: string): void {
  // Only shown to those who may change counters.
  if (document.getElementById('move') === null) return
  const message = byId('move-message')
  let busy = false

  const move = async (action: Action, other: string) => {
    // A second click, while the first one waits for its confirmation or its response.
    if (busy) return
    busy = true
    message.textContent = ''
    try {
      if (!(await confirmed(action, other))) return
      const address = ['counters', type, key]
      const send = () => {
        if (action === 'delete') return ask<{ finished: boolean }>('DELETE', path(address))
        const body = JSON.stringify(action === 'rename' ? { to: other } : { into: other })
        return ask<{ finished: boolean }>('POST', path([...address, action]), body)
      }
      while (!(await send()).finished) {
        message.textContent = 'Under way …'
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
      location.assign(
        `${basePath()}/${action === 'delete' ? '' : 'counter'}?${new URLSearchParams({ type, ...(other && { key: other }) })}`,
      )
    } catch (error) {
      message.textContent = messageOf(error)
    } finally {
      busy = false
    }
  }

  byId('move').addEventListener('submit', (event) => {
    event.preventDefault()
    const action = (event as SubmitEvent).submitter?.getAttribute('value') === 'merge' ? 'merge' : 'rename'
    void move(action, byId<HTMLInputElement>('other-key').value)
  })
  byId('delete').addEventListener('click', () => void move('delete', ''))
}

async function confirmed(action: Action, other: string): Promise<boolean> {
  byId('confirm-move-title').textContent = TITLES[action]
  byId('confirm-move-other').textContent = other
  byId('confirm-move-arrow').hidden = action === 'delete'
  byId('confirm-move-button').textContent = VERBS[action]
  const dialog = byId<HTMLDialogElement>('confirm-move')
  dialog.returnValue = ''
  dialog.showModal()
  await new Promise((closed) => dialog.addEventListener('close', closed, { once: true }))
  return dialog.returnValue === 'confirm'
}
