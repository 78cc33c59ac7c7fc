import { ask, newKey, path } from './api.ts'
import { ApiError, messageOf } from './api-error.ts'
import { confirmsMove, confirmsSetting, countOf } from './change-dialog.ts'
import { clearDone, leaveAfter, showDone } from './change-done.ts'
import { adjustCount, type Move, moveCounter, setCount } from './counter-changes.ts'
import type { Count } from './counts.ts'
import { readTypedCount, showChange, showCount } from './counts.ts'
import { byId, element } from './elements.ts'

/** The API accepts JSON numbers up to this, and their negatives. */
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Starts the forms that set, reset, delete, rename and merge a counter. What is wrong is told beside the field; otherwise a
 * dialog says what will happen, and asks. Afterwards the page says what was done.
 * @param changed called after each attempt to set or reset it
 */
export function startChangeForms(type: string, key: string, changed: () => void): void {
  // Only those who may change counters have the forms.
  if (document.getElementById('change') === null) return
  startSetForms(type, key, changed)
  startMoveForms(type, key)
}

function startSetForms(type: string, key: string, changed: () => void): void {
  const field = fieldOf('new-count', 'change-message')
  const set = oneAtATime(field, async (count: bigint, resets: boolean) => {
    const before = await countOf(type, key)
    if (!(await confirmsSetting(key, before, count, resets))) return
    clearDone()
    try {
      const added = BigInt((await setCount(type, key, count)) ?? count - before)
      const id = newKey()
      const undo = async () => {
        await adjustCount(type, key, -added, id)
        showDone([`Undone: ${showChange(-added)}.`])
        changed()
      }
      showDone([resets ? 'Reset to zero.' : `Set to ${showCount(count)}.`], added === 0n ? undefined : undo)
    } finally {
      changed()
    }
  })
  byId('set').addEventListener('submit', (event) => {
    event.preventDefault()
    const count = readTypedCount(field.input.value)
    if (count !== null && count <= LARGEST && count >= -LARGEST) void set(count, false)
    else {
      field.refuse(
        `A whole number, such as 1234 or ${showCount(1_234)}, between ${showCount(-LARGEST)} and ${showCount(LARGEST)}.`,
      )
    }
  })
  byId('reset').addEventListener('click', () => void set(0n, true))
}

function startMoveForms(type: string, key: string): void {
  const field = fieldOf('other-key', 'move-message')
  const insteadOf = { rename: 'merge', merge: 'rename' } as const
  const refuse = (text: string, action: 'rename' | 'merge', other: string) => {
    const button = element('button', { type: 'button' }, action === 'rename' ? 'Merge instead …' : 'Rename instead …')
    button.addEventListener('click', () => {
      // The button goes away, and the dialog gives the focus back.
      field.input.focus()
      void move(insteadOf[action], other)
    })
    field.refuse(text, ' ', button)
  }
  const move = oneAtATime(field, async (action: Move['action'], other: string) => {
    let others = 0n
    if (action !== 'delete') {
      const found = await search(type, other)
      if (other === key || found?.key === key) return field.refuse('This counter has this key already.')
      if (action === 'rename' && found !== null) {
        return refuse(`This key has a counter, with a count of ${showCount(found.count)}.`, action, other)
      }
      if (action === 'merge' && found === null) return refuse('There is no counter with this key.', action, other)
      others = BigInt(found?.count ?? 0)
    }
    const counter = { action, type, key, other }
    const agreed = await confirmsMove(counter, others)
    if (agreed === null) return
    clearDone()
    try {
      await moveCounter({ ...counter, ...agreed })
    } catch (error) {
      // Somebody else was faster.
      if (!(error instanceof ApiError) || error.code !== 'counter_exists') throw error
      return refuse('This key has a counter by now. Nothing was changed.', 'rename', other)
    }
    leaveAfter({ ...counter, ...agreed })
  })
  byId('move').addEventListener('submit', (event) => {
    event.preventDefault()
    const action = (event as SubmitEvent).submitter?.getAttribute('value') === 'merge' ? 'merge' : 'rename'
    void move(action, field.input.value)
  })
  byId('delete').addEventListener('click', () => void move('delete', ''))
}

/**
 * Finds the counter of a typed key. The first one that begins with it is the one, if it is no longer; it may be spelled
 * otherwise, if the type takes other spellings for the same key.
 */
async function search(type: string, key: string): Promise<{ key: string; count: Count } | null> {
  const query = new URLSearchParams({ prefix: key, limit: '1' })
  const { counters } = await ask<{ counters: { key: string; count: Count }[] }>(
    'GET',
    `${path('search', type)}?${query}`,
  )
  return counters[0]?.key.length === key.length ? counters[0] : null
}

/** A field, and the message beside it. */
interface Field {
  input: HTMLInputElement
  message: HTMLElement
  /** Says what is wrong with the field. */
  refuse(...what: (string | Node)[]): void
}

function fieldOf(id: string, messageId: string): Field {
  const input = byId<HTMLInputElement>(id)
  const message = byId(messageId)
  const clear = () => {
    input.removeAttribute('aria-invalid')
    message.replaceChildren()
  }
  input.addEventListener('input', clear)
  return {
    input,
    message,
    refuse(...what) {
      message.replaceChildren(...what)
      input.setAttribute('aria-invalid', 'true')
      input.focus()
    },
  }
}

/** Runs one change at a time: a click during a change does nothing. */
function oneAtATime<Parameters extends unknown[]>(
  { input, message }: Field,
  work: (...parameters: Parameters) => Promise<void>,
): (...parameters: Parameters) => Promise<void> {
  let busy = false
  return async (...parameters) => {
    if (busy) return
    busy = true
    input.removeAttribute('aria-invalid')
    message.replaceChildren()
    await work(...parameters).catch((error) => {
      message.textContent = messageOf(error)
    })
    busy = false
  }
}
