import { startListCsv } from './csv-buttons.ts'
import { byId, startCopyButtons } from './elements.ts'
import { setText } from './figures.ts'
import { firstRunOf } from './first-run.ts'
import type { TypeNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { startRollUpState } from './roll-up-state.ts'
import { TopList } from './top-list.ts'

/** How many rows "Show more" adds, and the maximum. */
const MORE = 20
const MAX_ROWS = 100

/** Starts the page of a type. */
export function startOverviewPage(type: string): void {
  const list = new TopList(type)
  const more = byId<HTMLButtonElement>('more')
  const input = byId<HTMLInputElement>('find')
  // The index of the row to focus once it exists.
  let focusAt: number | null = null
  const prefixes = document.querySelectorAll<HTMLButtonElement>('#prefixes button')
  const keepForCsv = startListCsv(type)
  const showFirstRun = firstRunOf(type, () => page.refresh())

  const page = startNumbers<TypeNumbers>({
    type,
    show(numbers, { find, period }, asked) {
      const { chart, total, timeZone, prefix } = numbers
      const { counters, more: hasMore } = numbers.list
      list.show(counters, period === 'all' ? total : chart.count, asked)
      keepForCsv(numbers)
      if (document.activeElement !== input) input.value = find
      more.hidden = !hasMore || counters.length >= MAX_ROWS
      more.disabled = false
      if (focusAt !== null) list.focus(focusAt)
      focusAt = null
      setText('top-message', listMessage(numbers, find))
      const tooMany = prefix === null && [...prefixes].some(({ value }) => value !== '' && value === find)
      const scope = tooMany ? 'Figures and chart are of all keys: too many begin with this prefix. ' : ''
      setText('as-of', `${scope}As of the last roll-up. Days begin at midnight in ${timeZone}.`)
      for (const button of prefixes) button.setAttribute('aria-pressed', String(button.value === (prefix ?? '')))
      showFirstRun(counters.length === 0 && find === '' && BigInt(total) === 0n)
    },
  })

  byId('search').addEventListener('submit', (event) => {
    event.preventDefault()
    page.change({ find: input.value })
  })
  // The button in the field that clears it.
  input.addEventListener('search', () => {
    if (input.value === '') page.change({ find: '' })
  })
  for (const button of prefixes) button.addEventListener('click', () => page.change({ find: button.value }))
  more.addEventListener('click', () => {
    focusAt = list.length
    more.disabled = true
    page.showRows(Math.min(MAX_ROWS, list.length + MORE))
  })
  startCopyButtons()
  startRollUpState(page.refresh)
}

function listMessage({ list: { counters, more, certain } }: TypeNumbers, find: string): string {
  if (counters.length === 0) {
    if (find !== '') return 'No key begins with that. Upper and lower case differ.'
    return 'Nothing was counted in this period. Choose a longer one.'
  }
  if (more && counters.length >= MAX_ROWS) return `These are the first ${MAX_ROWS}. Search for others.`
  return certain ? '' : 'With this many keys the list may be incomplete. The counts shown are exact.'
}
