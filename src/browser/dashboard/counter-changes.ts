// The forms that set, delete, rename and merge a counter, and the dialog in which they ask.
import { showChange, showCount } from '../../views/english.ts'
import { visibleKey } from '../../visible-key.ts'
import { ApiError, ask, BASE, messageOf, path } from './api.ts'
import { byId, element, on, say } from './elements.ts'
import { open } from './page-swap.ts'

/** The API accepts JSON numbers up to this, and their negatives. */
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)
const CHANGE_FIRST = 'Later hits for the old key create a new counter, so change the key on your site first.'

// From the URL, because HTML does not preserve every character.
const ownKey = () => new URLSearchParams(location.search).get('key') ?? ''
const type = () => byId('main').dataset.type!

type Counted = { key: string; count: string }

type Action = 'set' | 'delete' | 'rename' | 'merge'

type Question = ReturnType<typeof questionOf>

/** What a dialog says, what is sent, and texts and keys in turn when that is done. @param to a count or a key @param other its count */
function questionOf(action: Action, to: string, count: bigint, other: bigint) {
  const key = ownKey()
  const its = `Its count of ${showCount(count)}`
  return {
    set: {
      title: 'Set this counter?',
      button: `Set to ${showCount(other)}`,
      lines: [
        `Its count changes from ${showCount(count)} to ${showCount(other)} (${showChange(other - count)}). Hits that arrive before you confirm are overwritten too.`,
        'The history keeps what was counted and shows this change as an adjustment.',
      ],
      // A JavaScript number would round the digits.
      request: ['PUT', `{"count":${to}}`],
      done: [`Set to ${showCount(other)}.`],
    },
    delete: {
      title: 'Delete this counter?',
      button: 'Delete',
      lines: [
        `${its}, its history and its adjustments are deleted and subtracted from the totals of its type. This cannot be undone.`,
        'Later hits for this key create a new counter.',
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
      title: 'Merge this counter into another?',
      button: 'Merge',
      lines: [
        `${its} and its history are added to the other counter, which changes from ${showCount(other)} to ${showCount(count + other)}. This cannot be undone.`,
        CHANGE_FIRST,
      ],
      request: ['POST', JSON.stringify({ into: to })],
      done: ['Merged ', key, ' into ', to, '.'],
    },
  }[action]
}

/** What is wrong is told beside the field; otherwise a dialog says what will happen, and asks. Then the page says what was done. */
export function startChanges(): void {
  on('submit', '#set', (_, event) => {
    event.preventDefault()
    const field = changeField('new-count', 'change-message')
    const count = typedCount(field.input.value)
    const rule = `Enter a whole number, such as 1234 or 1,234, between ${showCount(-LARGEST)} and ${showCount(LARGEST)}.`
    if (count === null || count > LARGEST || count < -LARGEST) field.refuse(rule)
    else void field.run(() => change('set', String(count), count))
  })
  on('submit', '#move', (_, event) => {
    event.preventDefault()
    const action = (event as SubmitEvent).submitter?.getAttribute('value') === 'merge' ? 'merge' : 'rename'
    const field = keyField()
    void field.run(() => move(action, field.input.value))
  })
  on('click', '#delete', () => void keyField().run(() => change('delete', '')))
  on('input', '#set input, #move input', (field) => {
    field.removeAttribute('aria-invalid')
    byId(field.getAttribute('aria-describedby')!).replaceChildren()
  })
}

/** A whole number: digits alone, or in groups of three as the page writes them. Anything else is `null`. */
function typedCount(text: string): bigint | null {
  const typed = text.trim().replace('\u2212', '-')
  return /^-?(?:\d{1,19}|\d{1,3}(?:,\d{3}){1,6})$/.test(typed) ? BigInt(typed.replaceAll(',', '')) : null
}

/** A key that keeps its writing direction to itself. */
const keyText = (key: string) => element('bdi', {}, visibleKey(key))

async function change(action: Action, to: string, other = 0n): Promise<void> {
  const moves = action !== 'set'
  const box = document.querySelector<HTMLInputElement>('#also')
  const places = moves ? [...document.querySelectorAll<HTMLElement>('[data-also]')] : []
  const types = [type(), ...places.map(({ dataset }) => dataset.also!)]
  const counters = types.map((type) => ask<Counted>('GET', path('counters', type, ownKey())))
  const [count, ...also] = (await Promise.all(counters)).map(({ count }) => BigInt(count)) as [bigint, ...bigint[]]
  const question = questionOf(action, to, count, other)
  byId('confirm-also').hidden = !moves
  if (box !== null) box.checked = true
  for (const [index, place] of places.entries()) place.textContent = showCount(also[index]!)
  if (!(await confirmed(question, moves ? to : ''))) return
  say()
  const [method, body] = question.request as [string, string?]
  const address = path('counters', type(), ownKey(), ...(method === 'POST' ? [action] : []))
  try {
    await send(method, moves && box?.checked ? `${address}?also=true` : address, body)
  } catch (error) {
    // Somebody else was faster.
    if (!(error instanceof ApiError) || error.code !== 'counter_exists') throw error
    return offer('A counter with this key has just been created. Nothing was changed.', 'merge', to)
  }
  // In the same period.
  const next = new URLSearchParams(location.search)
  if (action === 'delete') next.delete('key')
  else if (moves) next.set('key', to)
  await open(`${location.origin}${BASE}/${action === 'delete' ? '' : 'counter'}?${next}`)
  say(element('span', {}, ...question.done.map((part, index) => (index % 2 === 0 ? part : keyText(part)))))
  byId('message').focus()
}

async function move(action: 'rename' | 'merge', to: string): Promise<void> {
  const found = await findCounter(to)
  if ([to, found?.key].includes(ownKey())) keyField().refuse('This counter already has this key.')
  else if (action === 'rename' && found !== null) {
    offer(`This key already has a counter with a count of ${showCount(BigInt(found.count))}.`, 'merge', to)
  } else if (action === 'merge' && found === null) offer('There is no counter with this key.', 'rename', to)
  else await change(action, to, BigInt(found?.count ?? 0))
}

/** Says what is wrong with the other key, beside a button for what is possible. */
function offer(text: string, instead: 'rename' | 'merge', to: string): void {
  const button = element('button', { type: 'button' }, instead === 'merge' ? 'Merge instead …' : 'Rename instead …')
  button.addEventListener('click', () => {
    // The button goes away, and the dialog gives the focus back.
    keyField().input.focus()
    void keyField().run(() => move(instead, to))
  })
  keyField().refuse(text, ' ', button)
}

const keyField = () => changeField('other-key', 'move-message')
let isBusy = false

function changeField(id: string, messageId: string) {
  const input = byId<HTMLInputElement>(id)
  return {
    input,
    refuse(...what: (string | Node)[]): void {
      byId(messageId).replaceChildren(...what)
      input.setAttribute('aria-invalid', 'true')
      input.focus()
    },
    /** Runs one change at a time: a click during a change does nothing. */
    async run(work: () => Promise<void>): Promise<void> {
      if (isBusy) return
      isBusy = true
      byId(messageId).replaceChildren()
      await work().catch((error) => {
        byId(messageId).textContent = messageOf(error)
      })
      isBusy = false
    },
  }
}

/** Asks in the page's dialog. The button that has the focus changes nothing. @param other the other key, or nothing */
async function confirmed({ title, button, lines }: Question, other: string): Promise<boolean> {
  const arrow = element('span', { role: 'img', 'aria-label': 'becomes' }, '→')
  const keys = [keyText(ownKey()), ...(other === '' ? [] : [' ', arrow, ' ', keyText(other)])]
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

/** Finds the counter of a typed key, which the type may spell otherwise: the first one that begins with it. @throws {ApiError} */
async function findCounter(key: string): Promise<Counted | null> {
  const query = new URLSearchParams({ prefix: key, limit: '1' })
  const found = await ask<{ counters: Counted[] }>('GET', `${path('search', type())}?${query}`)
  const [first] = found.counters
  return first?.key.length === key.length ? first : null
}

/** Sends a change as `ask` does, and once more if its outcome is unknown: the idempotency key makes it take effect once. */
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
