import { ask, path } from './api.ts'
import type { Move } from './counter-changes.ts'
import type { Count } from './counts.ts'
import { showChange, showCount } from './counts.ts'
import { byId, element, keyText } from './elements.ts'

/** What the dialog asks before a change, and the text of the button that confirms it. */
interface Question {
  title: string
  what: readonly (string | Node)[]
  button: string
}

const HISTORY_STAYS = 'The history keeps what was counted, and shows this change as an adjustment.'
const CHANGE_FIRST = 'What is counted under the old key afterwards is a new counter: change the key on your site first.'

/** Asks whether to set a counter. @param before its count */
export function confirmsSetting(key: string, before: bigint, count: bigint, resets: boolean): Promise<boolean> {
  byId('confirm-also').hidden = true
  return confirmed({
    title: resets ? 'Reset this counter to zero?' : 'Set this counter?',
    what: [
      keyLine(key),
      `Its count changes from ${showCount(before)} to ${showCount(count)} (${showChange(count - before)}). What is counted before you confirm is overwritten too.`,
      HISTORY_STAYS,
    ],
    button: resets ? 'Reset to zero' : `Set to ${showCount(count)}`,
  })
}

/**
 * Asks whether to delete, rename or merge a counter, and those of its key in the types of `also`.
 * @param others the count of the counter to merge into
 * @returns whether the others take part; `null` if the answer is no
 * @throws {ApiError}
 */
export async function confirmsMove(move: Omit<Move, 'also'>, others: bigint): Promise<Pick<Move, 'also'> | null> {
  const { type, key } = move
  const places = [...document.querySelectorAll<HTMLElement>('[data-also]')]
  const [count, ...also] = await Promise.all(
    [type, ...places.map(({ dataset }) => dataset.also!)].map((name) => countOf(name, key)),
  )
  byId('confirm-also').hidden = false
  const box = document.querySelector<HTMLInputElement>('#also')
  if (box !== null) box.checked = true
  for (const [index, place] of places.entries()) place.textContent = showCount(also[index]!)
  const agreed = await confirmed(questionOf(move, count!, others))
  return agreed ? { also: box?.checked === true } : null
}

/** The count of a counter. @throws {ApiError} */
export async function countOf(type: string, key: string): Promise<bigint> {
  const query = new URLSearchParams({ key })
  const { counters } = await ask<{ counters: { count: Count }[] }>('GET', `${path('counters', type)}?${query}`)
  return BigInt(counters[0]!.count)
}

function questionOf({ action, key, other }: Omit<Move, 'also'>, count: bigint, others: bigint): Question {
  const questions: Record<Move['action'], Question> = {
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

/** Asks in the page's dialog. The button that has the focus changes nothing. */
async function confirmed({ title, what, button }: Question): Promise<boolean> {
  byId('confirm-title').textContent = title
  byId('confirm-text').replaceChildren(...what.map((part) => (part instanceof Node ? part : element('p', {}, part))))
  byId('confirm-button').textContent = button
  const dialog = byId<HTMLDialogElement>('confirm')
  dialog.returnValue = ''
  dialog.showModal()
  dialog.querySelector('button')?.focus()
  await new Promise((closed) => dialog.addEventListener('close', closed, { once: true }))
  return dialog.returnValue === 'confirm'
}

function keyLine(key: string, other?: string): HTMLElement {
  const arrow = element('span', { role: 'img', 'aria-label': 'becomes' }, '→')
  return element('p', { class: 'key' }, keyText(key), ...(other === undefined ? [] : [' ', arrow, ' ', keyText(other)]))
}
