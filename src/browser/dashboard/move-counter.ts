import { ask, type Counter, change, messageOf, path } from './api.ts'
import { basePath } from './base-path.ts'
import { confirmed, keyLine, type Question } from './confirm.ts'
import { byId } from './elements.ts'
import { showCount } from './format-counts.ts'

type Action = 'delete' | 'rename' | 'merge'

const CHANGE_FIRST = 'What is counted under the old key afterwards is a new counter: change the key on your site first.'

/** Starts the forms that delete, rename and merge a counter. A dialog asks for confirmation, and says what will happen. */
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
      if (!(await confirmed(await questionOf(action, type, key, other)))) return
      const address = ['counters', type, key]
      if (action === 'delete') await change('DELETE', path(address))
      else {
        const body = JSON.stringify(action === 'rename' ? { to: other } : { into: other })
        await change('POST', path([...address, action]), body)
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

async function questionOf(action: Action, type: string, key: string, other: string): Promise<Question> {
  // The counts as of now, so that the question names them.
  const keys = action === 'merge' ? [key, other] : [key]
  const { counters } = await ask<{ counters: Counter[] }>(
    'GET',
    `${path(['counters', type])}?${new URLSearchParams(keys.map((each) => ['key', each]))}`,
  )
  const counts = counters.map(({ count }) => BigInt(count))
  const count = showCount(counts[0]!)
  switch (action) {
    case 'delete':
      return {
        title: 'Delete this counter?',
        what: [
          keyLine(key),
          `Its count of ${count}, its history and its adjustments are deleted, and taken out of the numbers of its type. This cannot be undone.`,
          'What is counted under this key afterwards is a new counter.',
        ],
        button: 'Delete',
      }
    case 'rename':
      return {
        title: 'Rename this counter?',
        what: [keyLine(key, other), `Its count of ${count} and its history move to the new key.`, CHANGE_FIRST],
        button: 'Rename',
      }
    case 'merge':
      return {
        title: 'Merge this counter into another one?',
        what: [
          keyLine(key, other),
          `Its count of ${count} and its history are added to the other counter, which has ${showCount(counts[1]!)} and then ${showCount(counts[0]! + counts[1]!)}. This cannot be undone.`,
          CHANGE_FIRST,
        ],
        button: 'Merge',
      }
  }
}
