import { ask, type Counter, change, messageOf, path } from './api.ts'
import { confirmed, keyLine } from './confirm.ts'
import { byId } from './elements.ts'
import type { Count } from './exact-json.ts'
import { showChange, showCount } from './format-counts.ts'
import { readTypedCount } from './typed-count.ts'

const HISTORY_STAYS = 'The history keeps what was counted, and shows this change as an adjustment.'

/**
 * Starts the forms that set and reset a counter. A dialog asks for confirmation, with the counter's key and both numbers.
 *
 * @param changed called after each attempt
 */
export function startChangeForms(type: string, key: string, changed: () => void): void {
  // Only those who may change counters have the forms.
  if (document.getElementById('set') === null) return
  const message = byId('change-message')
  let busy = false

  const set = async (count: bigint, resets: boolean) => {
    // A second click, while the first one waits for its confirmation or its response.
    if (busy) return
    busy = true
    message.textContent = ''
    try {
      const { counters } = await ask<{ counters: Counter[] }>('GET', path(['counters', type], { key }))
      const before = BigInt(counters[0]!.count)
      const agreed = await confirmed({
        title: resets ? 'Reset this counter to zero?' : 'Set this counter?',
        what: [
          keyLine(key),
          `Its count changes from ${showCount(before)} to ${showCount(count)} (${showChange(count - before)}). What is counted before you confirm is overwritten too.`,
          HISTORY_STAYS,
        ],
        button: resets ? 'Reset to zero' : `Set to ${showCount(count)}`,
      })
      if (!agreed) return
      const address = path(['counters', type, key])
      // The digits are sent unchanged: a JavaScript number would round them.
      const answer = await change<{ count: Count }>('PUT', address, `{"count":${count}}`)
      message.textContent = resets ? 'Reset to zero.' : `Set to ${showCount(answer.count)}.`
    } catch (error) {
      message.textContent = messageOf(error)
    } finally {
      busy = false
    }
    changed()
  }

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
