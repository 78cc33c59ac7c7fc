import { ask, type Counter, messageOf, path } from './api.ts'
import { byId } from './elements.ts'
import type { Count } from './exact-json.ts'
import { showCount } from './format-counts.ts'

/**
 * Starts the forms that set and reset a counter. A dialog asks for confirmation, with the counter's name and both numbers.
 *
 * @param changed called after each attempt
 */
export function startChangeForms(type: string, key: string, changed: () => void): void {
  // Only those who may change counters have the forms.
  if (document.getElementById('set') === null) return
  const message = byId('change-message')
  let busy = false

  const change = async (count: bigint | null) => {
    // A second click, while the first one waits for its confirmation or its response.
    if (busy) return
    busy = true
    message.textContent = ''
    try {
      const { counters } = await ask<{ counters: Counter[] }>('GET', path(['counters', type], { key }))
      if (!(await confirmed(counters[0]!.count, count))) return
      const address = path(['counters', type, key])
      // The digits are sent unchanged: a JavaScript number would round them.
      const answer = await ask<{ count: Count }>('PUT', address, `{"count":${count ?? 0n}}`)
      message.textContent = count === null ? 'Reset to zero.' : `Set to ${showCount(answer.count)}.`
    } catch (error) {
      message.textContent = messageOf(error)
    } finally {
      busy = false
    }
    changed()
  }

  byId('set').addEventListener('submit', (event) => {
    event.preventDefault()
    const text = byId<HTMLInputElement>('new-count').value.trim()
    void change(BigInt(text))
  })
  byId('reset').addEventListener('click', () => void change(null))
}

async function confirmed(now: Count, next: bigint | null): Promise<boolean> {
  byId('old-value').textContent = showCount(now)
  byId('new-value').textContent = showCount(next ?? 0n)
  byId('confirm-title').textContent = next === null ? 'Reset this counter to zero?' : 'Set this counter?'
  byId('confirm-button').textContent = next === null ? 'Reset' : 'Set'
  const dialog = byId<HTMLDialogElement>('confirm')
  dialog.returnValue = ''
  dialog.showModal()
  await new Promise((closed) => dialog.addEventListener('close', closed, { once: true }))
  return dialog.returnValue === 'confirm'
}
