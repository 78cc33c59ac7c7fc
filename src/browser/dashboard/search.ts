import { ask, type KeyCount, messageOf, path } from './api.ts'
import { byId, counterLink, row } from './elements.ts'
import { showCount } from './format-counts.ts'

const PAGE = 10

/**
 * Starts the search for counters by key prefix.
 *
 * @param nothingThere called if there is no counter at all
 * @returns a function that searches again
 */
export function startSearch(type: string, nothingThere: () => void): () => void {
  const input = byId<HTMLInputElement>('prefix')
  const found = byId('found')
  const more = byId<HTMLButtonElement>('more')
  const message = byId('search-message')
  let prefix = ''
  let next: string | null = null
  // Responses may overtake each other. Only the latest request's response is shown.
  let latest = 0
  let answered = false

  const find = async (after: string | null) => {
    const mine = ++latest
    more.hidden = true
    message.textContent = ''
    try {
      const parameters = { prefix, limit: String(PAGE), ...(after !== null && { after }) }
      const page = await ask<{ counters: KeyCount[]; next: string | null }>('GET', path(['search', type], parameters))
      if (mine !== latest) return
      const rows = page.counters.map(({ key, count }) => row(counterLink(type, key), showCount(count)))
      if (after === null) found.replaceChildren(...rows)
      else found.append(...rows)
      answered = true
      next = page.next
      more.hidden = next === null
      if (found.childElementCount > 0) return
      message.textContent = prefix === '' ? 'Nothing has been counted yet.' : 'No key begins with that.'
    } catch (error) {
      if (mine === latest) message.textContent = messageOf(error)
    }
  }

  byId('search').addEventListener('submit', (event) => {
    event.preventDefault()
    prefix = input.value
    void find(null)
  })
  more.addEventListener('click', () => void find(next))
  void find(null).then(() => {
    if (prefix === '' && answered && found.childElementCount === 0) nothingThere()
  })
  return () => void find(null)
}
