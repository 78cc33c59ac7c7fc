import { pageAddress } from './address.ts'
import { ask, path } from './api.ts'
import { ApiError, messageOf } from './api-error.ts'
import { byId, element, keyText, withStorage } from './elements.ts'
import { readTypedCount, showChange, showCount } from './formats.ts'
import type { Count } from './numbers-answer.ts'

/** The API accepts JSON numbers up to this, and their negatives. */
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)

/** What happens to a counter; with `also`, to those of its key in the types that its type names so too. */
interface Move {
  action: 'delete' | 'rename' | 'merge'
  type: string
  key: string
  /** The other key; empty for deletions. */
  other: string
  also: boolean
}

const DONE = 'slotted-counter-done'

const CHANGE_FIRST = 'What is counted under the old key afterwards is a new counter: change the key on your site first.'

/**
 * Starts the forms that set, delete, rename and merge a counter. What is wrong is told beside the field; otherwise a dialog says what
 * will happen, and asks. Afterwards the page says what was done.
 */
export function startChangeForms(type: string, key: string, changed: () => void): void {
  // Only those who may change counters have the forms.
  if (document.getElementById('change') === null) return
  startSetForms(type, key, changed)
  startMoveForms(type, key)
}

function startSetForms(type: string, key: string, changed: () => void): void {
  const field = changeField('new-count', 'change-message')
  const set = async (count: bigint) => {
    const before = await countOf(type, key)
    byId('confirm-also').hidden = true
    const isConfirmed = await confirmed('Set this counter?', `Set to ${showCount(count)}`, [
      keyLine(key),
      `Its count changes from ${showCount(before)} to ${showCount(count)} (${showChange(count - before)}). What is counted before you confirm is overwritten too.`,
      'The history keeps what was counted, and shows this change as an adjustment.',
    ])
    if (!isConfirmed) return
    clearDone()
    try {
      // A JavaScript number would round the digits.
      await change('PUT', path('counters', type, key), `{"count":${count}}`)
      showDone([`Set to ${showCount(count)}.`])
    } finally {
      changed()
    }
  }
  byId('set').addEventListener('submit', (event) => {
    event.preventDefault()
    const count = readTypedCount(field.input.value)
    const rule = `A whole number, such as 1234 or ${showCount(1_234)}, between ${showCount(-LARGEST)} and ${showCount(LARGEST)}.`
    if (count === null || count > LARGEST || count < -LARGEST) field.refuse(rule)
    else void field.change(() => set(count))
  })
}

function startMoveForms(type: string, key: string): void {
  const field = changeField('other-key', 'move-message')
  const refuse = (text: string, instead: 'rename' | 'merge', other: string) => {
    const button = element('button', { type: 'button' }, instead === 'merge' ? 'Merge instead …' : 'Rename instead …')
    button.addEventListener('click', () => {
      // The button goes away, and the dialog gives the focus back.
      field.input.focus()
      void field.change(() => move(instead, other))
    })
    field.refuse(text, ' ', button)
  }
  const move = async (action: Move['action'], other: string) => {
    let others = 0n
    if (action !== 'delete') {
      const found = await findCounter(type, other)
      if (other === key || found?.key === key) return field.refuse('This counter has this key already.')
      if (action === 'rename' && found !== null) {
        return refuse(`This key has a counter, with a count of ${showCount(found.count)}.`, 'merge', other)
      }
      if (action === 'merge' && found === null) return refuse('There is no counter with this key.', 'rename', other)
      others = BigInt(found?.count ?? 0)
    }
    const counter = { action, type, key, other }
    if (!(await confirmsMove(counter, others))) return
    const done = { ...counter, also: document.querySelector<HTMLInputElement>('#also')?.checked === true }
    clearDone()
    try {
      await moveCounter(done)
    } catch (error) {
      // Somebody else was faster.
      if (!isTaken(error)) throw error
      return refuse('This key has a counter by now. Nothing was changed.', 'merge', other)
    }
    leaveAfter(done)
  }
  byId('move').addEventListener('submit', (event) => {
    event.preventDefault()
    const action = (event as SubmitEvent).submitter?.getAttribute('value') === 'merge' ? 'merge' : 'rename'
    void field.change(() => move(action, field.input.value))
  })
  byId('delete').addEventListener('click', () => field.change(() => move('delete', '')))
}

const isTaken = (error: unknown) => error instanceof ApiError && error.code === 'counter_exists'

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
    async change(work: () => Promise<void>): Promise<void> {
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

/** Asks whether to move a counter, and those of its key in other types. @param others the count to merge into @throws {ApiError} */
async function confirmsMove({ action, type, key, other }: Omit<Move, 'also'>, others: bigint): Promise<boolean> {
  const places = [...document.querySelectorAll<HTMLElement>('[data-also]')]
  const types = [type, ...places.map(({ dataset }) => dataset.also!)]
  const [count, ...also] = (await Promise.all(types.map((name) => countOf(name, key)))) as [bigint, ...bigint[]]
  byId('confirm-also').hidden = false
  const box = document.querySelector<HTMLInputElement>('#also')
  if (box !== null) box.checked = true
  for (const [index, place] of places.entries()) place.textContent = showCount(also[index]!)
  const its = `Its count of ${showCount(count)}`
  const said = {
    delete: [
      'Delete this counter?',
      'Delete',
      `${its}, its history and its adjustments are deleted, and taken out of the numbers of its type. This cannot be undone.`,
      'What is counted under this key afterwards is a new counter.',
    ],
    rename: ['Rename this counter?', 'Rename', `${its} and its history move to the new key.`, CHANGE_FIRST],
    merge: [
      'Merge this counter into another one?',
      'Merge',
      `${its} and its history are added to the other counter, which has ${showCount(others)} and then ${showCount(count + others)}. This cannot be undone.`,
      CHANGE_FIRST,
    ],
  } as const
  const [title, button, ...lines] = said[action]
  return confirmed(title, button, [keyLine(key, other), ...lines])
}

/** Asks in the page's dialog. The button that has the focus changes nothing. @param button what the other one says */
async function confirmed(title: string, button: string, what: readonly (string | Node)[]): Promise<boolean> {
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

function keyLine(key: string, other = ''): HTMLElement {
  const arrow = element('span', { role: 'img', 'aria-label': 'becomes' }, '→')
  return element('p', { class: 'key' }, keyText(key), ...(other === '' ? [] : [' ', arrow, ' ', keyText(other)]))
}

/** Goes to the page of what a change left, in the same period. That page says what was done. */
function leaveAfter(done: Move): void {
  withStorage(() => sessionStorage.setItem(DONE, JSON.stringify(done)))
  const { action, type, other } = done
  location.assign(pageAddress(action === 'delete' ? '' : 'counter', { type, key: other }))
}

/** Says what was done before the page was opened. */
export function showLastChange(): void {
  // Only those who may change counters have the place for it.
  if (document.getElementById('done') === null) return
  // Browsers may show a page again as it was.
  addEventListener('pagehide', clearDone)
  const stored = withStorage(() => sessionStorage.getItem(DONE))
  if (stored === null) return
  sessionStorage.removeItem(DONE)
  const { action, key, other } = JSON.parse(stored) as Move
  const said = {
    delete: ['Deleted ', keyText(key), '.'],
    rename: ['Renamed ', keyText(key), ' to ', keyText(other), '.'],
    merge: ['Merged ', keyText(key), ' into ', keyText(other), '.'],
  }
  showDone(said[action])
}

/** Says above the page what was done, until the next change. */
function showDone(what: readonly (string | Node)[]): void {
  const place = byId('done')
  place.replaceChildren(element('span', {}, ...what))
  // Screen readers read it.
  place.focus()
}

function clearDone(): void {
  byId('done').replaceChildren()
}

async function countOf(type: string, key: string): Promise<bigint> {
  const { count } = await ask<{ count: Count }>('GET', path('counters', type, key))
  return BigInt(count)
}

/** Finds the counter of a typed key, which the type may spell otherwise: the first one that begins with it. @throws {ApiError} */
async function findCounter(type: string, key: string): Promise<{ key: string; count: Count } | null> {
  const query = new URLSearchParams({ prefix: key, limit: '1' })
  const found = await ask<{ counters: { key: string; count: Count }[] }>('GET', `${path('search', type)}?${query}`)
  const [first] = found.counters
  return first?.key.length === key.length ? first : null
}

/** @throws {ApiError} */
async function moveCounter({ action, type, key, other, also }: Move): Promise<void> {
  const query = also ? '?also=true' : ''
  const body = { rename: JSON.stringify({ to: other }), merge: JSON.stringify({ into: other }) }
  if (action === 'delete') await change('DELETE', path('counters', type, key) + query)
  else await change('POST', path('counters', type, key, action) + query, body[action])
}

/**
 * Sends a change as `ask` does, and once more if its outcome is unknown: the key makes it take effect once.
 * @throws {ApiError} with status 0 if the outcome still is
 */
function change(method: string, path: string, body?: string): Promise<unknown> {
  const isUnknown = (error: unknown) =>
    error instanceof ApiError && (error.status === 0 || error.code === 'outcome_unknown')
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-')
  const attempt = () => ask(method, path, body, key)
  return attempt()
    .catch((error) => (isUnknown(error) ? attempt() : Promise.reject(error)))
    .catch((error) => {
      throw isUnknown(error) ? new ApiError(0, { code: 'outcome_unknown' }) : error
    })
}
