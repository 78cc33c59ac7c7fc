import type { ListedCounter } from './numbers.ts'

/** The pause in typing after which a text is searched, and the shortest time between two such searches. */
const PAUSE_MS = 1_000
const APART_MS = 20_000

/** The counters whose keys contain a text, in any case, in the order of their counts. Each key once: the first one counts. */
export function filtered(text: string, ...lists: readonly (readonly ListedCounter[])[]): ListedCounter[] {
  const wanted = text.toLowerCase()
  const byKey = new Map<string, ListedCounter>()
  for (const counter of lists.flat()) {
    if (!byKey.has(counter.key) && counter.key.toLowerCase().includes(wanted)) byKey.set(counter.key, counter)
  }
  return [...byKey.values()].sort((a, b) => Number(BigInt(b.count) - BigInt(a.count)))
}

/**
 * Starts the field that filters the list.
 * @param typed called at once whenever the text changes
 * @param search called after a pause or Enter, with the text
 */
export function startFilter(input: HTMLInputElement, typed: () => void, search: (text: string) => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let searchedAt = Number.NEGATIVE_INFINITY
  const run = () => {
    clearTimeout(timer)
    searchedAt = Date.now()
    search(input.value)
  }
  input.addEventListener('input', () => {
    typed()
    clearTimeout(timer)
    timer = setTimeout(run, Math.max(PAUSE_MS, searchedAt + APART_MS - Date.now()))
  })
  input.form!.addEventListener('submit', (event) => {
    event.preventDefault()
    run()
  })
}
