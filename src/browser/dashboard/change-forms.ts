import { basePath } from './address.ts'
import { ask, change, path } from './api.ts'
import { messageOf } from './api-error.ts'
import { byId, element, keyText } from './elements.ts'
import type { Count } from './exact-json.ts'
import { showChange, showCount } from './format-counts.ts'
import { readTypedCount } from './typed-count.ts'

type Action = 'delete' | 'rename' | 'merge'

/** What the dialog asks before a change, and the text of the button that confirms it. */
interface Question {
  title: string
  what: readonly (string | Node)[]
  button: string
}

const HISTORY_STAYS = 'The history keeps what was counted, and shows this change as an adjustment.'
const CHANGE_FIRST = 'What is counted under the old key afterwards is a new counter: change the key on your site first.'

/**
 * Starts the forms that set, reset, delete, rename and merge a counter. A dialog says what will happen, and asks.
 * @param changed called after each attempt to set or reset it
 */
export function startChangeForms(type: string, key: string, changed: () => void): void {
  // Only those who may change counters have the forms.
  if (document.getElementById('change') === null) return
  startSetForms(type, key, changed)
  startMoveForms(type, key)
}

function startSetForms(type: string, key: string, changed: () => void): void {
  const message = byId('change-message')
  const set = oneAtATime(message, async (count: bigint, resets: boolean) => {
    const [before] = await countsOf(type, [key])
    const agreed = await confirmed({
      title: resets ? 'Reset this counter to zero?' : 'Set this counter?',
      what: [
        keyLine(key),
        `Its count changes from ${showCount(before!)} to ${showCount(count)} (${showChange(count - before!)}). What is counted before you confirm is overwritten too.`,
        HISTORY_STAYS,
      ],
      button: resets ? 'Reset to zero' : `Set to ${showCount(count)}`,
    })
    if (!agreed) return
    try {
      // A JavaScript number would round the digits.
      const answer = await change<{ count: Count }>('PUT', counterPath(type, key), `{"count":${count}}`)
      message.textContent = resets ? 'Reset to zero.' : `Set to ${showCount(answer.count)}.`
    } finally {
      changed()
    }
  })
  const field = byId<HTMLInputElement>('new-count')
  field.addEventListener('input', () => field.setCustomValidity(''))
  byId('set').addEventListener('submit', (event) => {
    event.preventDefault()
    const count = readTypedCount(field.value)
    field.setCustomValidity(count === null ? `A whole number, such as 1234 or ${showCount(1_234)}.` : '')
    if (count === null) field.reportValidity()
    else void set(count, false)
  })
  byId('reset').addEventListener('click', () => void set(0n, true))
}

function startMoveForms(type: string, key: string): void {
  const move = oneAtATime(byId('move-message'), async (action: Action, other: string) => {
    const counts = await countsOf(type, action === 'merge' ? [key, other] : [key])
    if (!(await confirmed(questionOf(action, key, other, counts)))) return
    if (action === 'delete') await change('DELETE', counterPath(type, key))
    else {
      const body = JSON.stringify(action === 'rename' ? { to: other } : { into: other })
      await change('POST', counterPath(type, key, action), body)
    }
    const query = new URLSearchParams({ type, ...(other && { key: other }) })
    location.assign(`${basePath()}/${action === 'delete' ? '' : 'counter'}?${query}`)
  })
  byId('move').addEventListener('submit', (event) => {
    event.preventDefault()
    const action = (event as SubmitEvent).submitter?.getAttribute('value') === 'merge' ? 'merge' : 'rename'
    void move(action, byId<HTMLInputElement>('other-key').value)
  })
  byId('delete').addEventListener('click', () => void move('delete', ''))
}

/** Where a counter is changed. Its key is in the query, because a path cannot have the keys "." and "..". */
function counterPath(type: string, key: string, ...action: Action[]): string {
  return `${path('counters', type, ...action)}?${new URLSearchParams({ key })}`
}

/** Runs one change at a time: a click during a change does nothing. */
function oneAtATime<Parameters extends unknown[]>(
  message: HTMLElement,
  work: (...parameters: Parameters) => Promise<void>,
): (...parameters: Parameters) => Promise<void> {
  let busy = false
  return async (...parameters) => {
    if (busy) return
    busy = true
    message.textContent = ''
    await work(...parameters).catch((error) => {
      message.textContent = messageOf(error)
    })
    busy = false
  }
}

async function countsOf(type: string, keys: readonly string[]): Promise<bigint[]> {
  const query = new URLSearchParams(keys.map((key) => ['key', key]))
  const { counters } = await ask<{ counters: { count: Count }[] }>('GET', `${path('counters', type)}?${query}`)
  return counters.map(({ count }) => BigInt(count))
}

function questionOf(action: Action, key: string, other: string, [count = 0n, others = 0n]: bigint[]): Question {
  const questions: Record<Action, Question> = {
    delete: {
      title: 'Delete this counter?',
      what: [
        keyLine(key),
        `Its count of ${showCount(count)}, its history and its adjustments are deleted, and taken out of the numbers of its type. This cannot be undone.`,
        'What is counted under this key afterwards is a new counter.',
      ],
      button: 'Delete',
    },
    rename: {
      title: 'Rename this counter?',
      what: [
        keyLine(key, other),
        `Its count of ${showCount(count)} and its history move to the new key.`,
        CHANGE_FIRST,
      ],
      button: 'Rename',
    },
    merge: {
      title: 'Merge this counter into another one?',
      what: [
        keyLine(key, other),
        `Its count of ${showCount(count)} and its history are added to the other counter, which has ${showCount(others)} and then ${showCount(count + others)}. This cannot be undone.`,
        CHANGE_FIRST,
      ],
      button: 'Merge',
    },
  }
  return questions[action]
}

/** Asks in the page's dialog. Its first button, which has the focus, changes nothing. */
async function confirmed({ title, what, button }: Question): Promise<boolean> {
  byId('confirm-title').textContent = title
  byId('confirm-text').replaceChildren(...what.map((part) => (part instanceof Node ? part : element('p', {}, part))))
  byId('confirm-button').textContent = button
  const dialog = byId<HTMLDialogElement>('confirm')
  dialog.returnValue = ''
  dialog.showModal()
  await new Promise((closed) => dialog.addEventListener('close', closed, { once: true }))
  return dialog.returnValue === 'confirm'
}

function keyLine(key: string, other?: string): HTMLElement {
  const arrow = element('span', { role: 'img', 'aria-label': 'becomes' }, '→')
  return element('p', { class: 'key' }, keyText(key), ...(other === undefined ? [] : [' ', arrow, ' ', keyText(other)]))
}
