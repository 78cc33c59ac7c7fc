// The script of the page of a counter: with its forms, one script for all pages would be too large.
import { pageAddress } from './address.ts'
import { ApiError, ask, messageOf, path } from './api.ts'
import { byId, element, keyText, numberCell, setText } from './elements.ts'
import { readTypedCount, showChange, showCount, showMoment } from './formats.ts'
import { clearDone, leaveWith, showDone } from './header.ts'
import { startNumbers } from './live-numbers.ts'
import type { Adjustment, Count, CounterNumbers } from './numbers-answer.ts'

/** The API accepts JSON numbers up to this, and their negatives. */
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)
const CHANGE_FIRST = 'What is counted under the old key afterwards is a new counter: change the key on your site first.'

const { type = '' } = byId('main').dataset
// From the URL, because HTML does not preserve every character.
const key = new URLSearchParams(location.search).get('key') ?? ''
const page = startNumbers<CounterNumbers>({ type, key }, (numbers) => {
  const { adjustments } = numbers
  setText('as-of', asOf(numbers))
  byId('adjustments').hidden = adjustments.length === 0
  byId('adjustment-rows').replaceChildren(...adjustments.map(adjustmentRow))
})
startChangeForms(page.refresh)

function adjustmentRow({ at, kind, count }: Adjustment): HTMLTableRowElement {
  const when = showMoment(new Date(at))
  return element('tr', {}, element('td', {}, when), element('td', {}, kind), numberCell(showChange(count)))
}

function asOf({ rolled, pending, rolledUpAt, timeZone }: CounterNumbers): string {
  const at = rolledUpAt === null ? '' : ` on ${showMoment(new Date(rolledUpAt))}`
  const counted =
    pending === null
      ? `As of the last roll-up: ${showCount(rolled)}${at}. More is waiting than can be added up now.`
      : `Exact: ${showCount(rolled)} rolled up${at}, and ${showCount(pending)} waiting to be added up.`
  return `${counted} Days begin at midnight in ${timeZone}.`
}

type Action = 'set' | 'delete' | 'rename' | 'merge'

/** What the dialog says of a change, what is sent, and what the page says afterwards: texts and keys in turn. */
interface Question {
  title: string
  button: string
  lines: string[]
  request: [method: 'PUT' | 'DELETE' | 'POST', body?: string]
  done: string[]
}

/**
 * @param to the new count, or the other key; empty for deletions
 * @param count that of the counter
 * @param other its new one, or that of the counter to merge into
 */
function questionOf(action: Action, to: string, count: bigint, other: bigint): Question {
  const its = `Its count of ${showCount(count)}`
  const questions: Record<Action, Question> = {
    set: {
      title: 'Set this counter?',
      button: `Set to ${showCount(other)}`,
      lines: [
        `Its count changes from ${showCount(count)} to ${showCount(other)} (${showChange(other - count)}). What is counted before you confirm is overwritten too.`,
        'The history keeps what was counted, and shows this change as an adjustment.',
      ],
      // A JavaScript number would round the digits.
      request: ['PUT', `{"count":${to}}`],
      done: [`Set to ${showCount(other)}.`],
    },
    delete: {
      title: 'Delete this counter?',
      button: 'Delete',
      lines: [
        `${its}, its history and its adjustments are deleted, and taken out of the numbers of its type. This cannot be undone.`,
        'What is counted under this key afterwards is a new counter.',
      ],
      request: ['DELETE'],
      done: ['Deleted ', key, '.'],
    },
    rename: {
      title: 'Rename this counter?',
      button: 'Rename',
      lines: [`${its} and its history move to the new key.`, CHANGE_FIRST],
      request: ['POST', JSON.stringify({ to })],
      done: ['Renamed ', key, ' to ', to, '.'],
    },
    merge: {
      title: 'Merge this counter into another one?',
      button: 'Merge',
      lines: [
        `${its} and its history are added to the other counter, which has ${showCount(other)} and then ${showCount(count + other)}. This cannot be undone.`,
        CHANGE_FIRST,
      ],
      request: ['POST', JSON.stringify({ into: to })],
      done: ['Merged ', key, ' into ', to, '.'],
    },
  }
  return questions[action]
}

/**
 * Starts the forms that set, delete, rename and merge a counter. What is wrong is told beside the field; otherwise a dialog says what
 * will happen, and asks. Afterwards the page says what was done.
 */
function startChangeForms(changed: () => void): void {
  // Only those who may change counters have the forms.
  if (document.getElementById('change') === null) return
  const countField = changeField('new-count', 'change-message')
  const keyField = changeField('other-key', 'move-message')
  const box = document.querySelector<HTMLInputElement>('#also')

  const change = async (action: Action, to: string, other = 0n) => {
    const moves = action !== 'set'
    const places = moves ? [...document.querySelectorAll<HTMLElement>('[data-also]')] : []
    const types = [type, ...places.map(({ dataset }) => dataset.also!)]
    const [count, ...also] = (await Promise.all(types.map(countOf))) as [bigint, ...bigint[]]
    const question = questionOf(action, to, count, other)
    byId('confirm-also').hidden = !moves
    if (box !== null) box.checked = true
    for (const [index, place] of places.entries()) place.textContent = showCount(also[index]!)
    if (!(await confirmed(question, moves ? to : ''))) return
    clearDone()
    const [method, body] = question.request
    const address = path('counters', type, key, ...(method === 'POST' ? [action] : []))
    try {
      await send(method, moves && box?.checked ? `${address}?also=true` : address, body)
    } catch (error) {
      changed()
      // Somebody else was faster.
      if (!(error instanceof ApiError) || error.code !== 'counter_exists') throw error
      return offer('This key has a counter by now. Nothing was changed.', 'merge', to)
    }
    if (!moves) {
      showDone(question.done)
      return changed()
    }
    // In the same period.
    leaveWith(question.done, pageAddress(action === 'delete' ? '' : 'counter', { type, key: to }))
  }

  const move = async (action: 'rename' | 'merge', to: string) => {
    const found = await findCounter(to)
    if (to === key || found?.key === key) keyField.refuse('This counter has this key already.')
    else if (action === 'rename' && found !== null) {
      offer(`This key has a counter, with a count of ${showCount(found.count)}.`, 'merge', to)
    } else if (action === 'merge' && found === null) offer('There is no counter with this key.', 'rename', to)
    else await change(action, to, BigInt(found?.count ?? 0))
  }

  /** Says what is wrong with the other key, beside a button for what is possible. */
  const offer = (text: string, instead: 'rename' | 'merge', to: string) => {
    const button = element('button', { type: 'button' }, instead === 'merge' ? 'Merge instead …' : 'Rename instead …')
    button.addEventListener('click', () => {
      // The button goes away, and the dialog gives the focus back.
      keyField.input.focus()
      void keyField.run(() => move(instead, to))
    })
    keyField.refuse(text, ' ', button)
  }

  byId('set').addEventListener('submit', (event) => {
    event.preventDefault()
    const count = readTypedCount(countField.input.value)
    const rule = `A whole number, such as 1234 or ${showCount(1_234)}, between ${showCount(-LARGEST)} and ${showCount(LARGEST)}.`
    if (count === null || count > LARGEST || count < -LARGEST) countField.refuse(rule)
    else void countField.run(() => change('set', String(count), count))
  })
  byId('move').addEventListener('submit', (event) => {
    event.preventDefault()
    const action = (event as SubmitEvent).submitter?.getAttribute('value') === 'merge' ? 'merge' : 'rename'
    void keyField.run(() => move(action, keyField.input.value))
  })
  byId('delete').addEventListener('click', () => keyField.run(() => change('delete', '')))
}

/** A field of a change, and the message beside it. */
function changeField(id: string, messageId: string) {
  const input = byId<HTMLInputElement>(id)
  const message = byId(messageId)
  let isBusy = false
  const clear = () => {
    input.removeAttribute('aria-invalid')
    message.replaceChildren()
  }
  input.addEventListener('input', clear)
  return {
    input,
    refuse(...what: (string | Node)[]): void {
      message.replaceChildren(...what)
      input.setAttribute('aria-invalid', 'true')
      input.focus()
    },
    /** Runs one change at a time: a click during a change does nothing. */
    async run(work: () => Promise<void>): Promise<void> {
      if (isBusy) return
      isBusy = true
      clear()
      await work().catch((error) => {
        message.textContent = messageOf(error)
      })
      isBusy = false
    },
  }
}

/** Asks in the page's dialog. The button that has the focus changes nothing. @param other the other key, or nothing */
async function confirmed({ title, button, lines }: Question, other: string): Promise<boolean> {
  const arrow = element('span', { role: 'img', 'aria-label': 'becomes' }, '→')
  const keys = [keyText(key), ...(other === '' ? [] : [' ', arrow, ' ', keyText(other)])]
  byId('confirm-title').textContent = title
  byId('confirm-text').replaceChildren(
    element('p', { class: 'key' }, ...keys),
    ...lines.map((line) => element('p', {}, line)),
  )
  byId('confirm-button').textContent = button
  const dialog = byId<HTMLDialogElement>('confirm')
  dialog.returnValue = ''
  dialog.showModal()
  dialog.querySelector('button')?.focus()
  await new Promise((closed) => dialog.addEventListener('close', closed, { once: true }))
  return dialog.returnValue === 'confirm'
}

async function countOf(type: string): Promise<bigint> {
  const { count } = await ask<{ count: Count }>('GET', path('counters', type, key))
  return BigInt(count)
}

/** Finds the counter of a typed key, which the type may spell otherwise: the first one that begins with it. @throws {ApiError} */
async function findCounter(key: string): Promise<{ key: string; count: Count } | null> {
  const query = new URLSearchParams({ prefix: key, limit: '1' })
  const found = await ask<{ counters: { key: string; count: Count }[] }>('GET', `${path('search', type)}?${query}`)
  const [first] = found.counters
  return first?.key.length === key.length ? first : null
}

/**
 * Sends a change as `ask` does, and once more if its outcome is unknown: the key makes it take effect once.
 * @throws {ApiError} with status 0 if the outcome still is
 */
async function send(method: string, path: string, body?: string): Promise<void> {
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-')
  for (let isLast = false; ; isLast = true) {
    try {
      return await ask(method, path, body, key)
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 0 && error.code !== 'outcome_unknown')) throw error
      if (isLast) throw new ApiError(0, { code: 'outcome_unknown' })
    }
  }
}
