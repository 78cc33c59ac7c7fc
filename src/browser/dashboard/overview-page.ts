import { ask, type KeyCount, messageOf, path } from './api.ts'
import { startCopyButtons } from './copy-buttons.ts'
import { startListCsv } from './csv-buttons.ts'
import { byId } from './elements.ts'
import { setText } from './figures.ts'
import { startFirstRun } from './first-run.ts'
import type { TypeNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { startRollUpState } from './roll-up-state.ts'
import { TopList } from './top-list.ts'

/** Rows that "Show more" adds, and the most rows. */
const MORE = 20
const MAX_ROWS = 100

/** Starts the page of a type: the sum of its counters, and a list of them. */
export function startOverviewPage(type: string, unit: string): void {
  const list = new TopList(type)
  const more = byId<HTMLButtonElement>('more')
  const input = byId<HTMLInputElement>('find')
  // The index of the row to focus, once it is there.
  let focusAt: number | null = null
  let lookedForFirst = false
  const prefixes = document.querySelectorAll<HTMLButtonElement>('#prefixes button')
  const keepForCsv = startListCsv(type)

  const page = startNumbers<TypeNumbers>({
    type,
    unit,
    show(numbers, { find, period }, asked) {
      const {
        list: { counters, more: hasMore, certain },
        chart,
        total,
        also,
        timeZone,
        prefix,
      } = numbers
      list.show(counters, period === 'all' ? total : chart.count, asked)
      keepForCsv(numbers)
      document.querySelector('.figures.also')?.toggleAttribute('hidden', also === undefined)
      if (document.activeElement !== input) input.value = find
      const full = counters.length >= MAX_ROWS
      more.hidden = !hasMore || full
      more.disabled = false
      if (focusAt !== null) list.focus(focusAt)
      focusAt = null
      setText(
        'top-message',
        listMessage({ found: counters.length, find, period, total, full: full && hasMore, certain }),
      )
      const tooMany = prefix === null && [...prefixes].some(({ value }) => value !== '' && value === find)
      const scope = tooMany ? 'Figures and chart are of all keys: too many begin with this prefix. ' : ''
      setText('as-of', `${scope}As of the last roll-up. Days begin at midnight in ${timeZone}.`)
      for (const button of prefixes) button.setAttribute('aria-pressed', String(button.value === (prefix ?? '')))
      if (counters.length === 0 && find === '' && BigInt(total) === 0n && !lookedForFirst) {
        lookedForFirst = true
        void lookForFirst()
      }
    },
  })

  /** Nothing was rolled up. Something may have been counted. */
  async function lookForFirst(): Promise<void> {
    try {
      const { counters } = await ask<{ counters: KeyCount[] }>('GET', path(['search', type], { limit: '1' }))
      if (counters.length === 0) startFirstRun(type, page.refresh)
    } catch (error) {
      setText('top-message', messageOf(error))
      lookedForFirst = false
    }
  }

  byId('search').addEventListener('submit', (event) => {
    event.preventDefault()
    page.change({ find: input.value })
  })
  // The cross in the field.
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

function listMessage(list: {
  found: number
  find: string
  period: string
  total: TypeNumbers['total']
  full: boolean
  certain: boolean
}): string {
  if (list.found === 0 && list.find !== '') return 'No key begins with that. Upper and lower case differ.'
  if (list.found === 0 && BigInt(list.total) === 0n)
    return 'Nothing has been rolled up yet. The next roll-up is due within a minute.'
  if (list.found === 0) return 'Nothing was counted in this period. Choose a longer one.'
  if (list.full) return `These are the first ${MAX_ROWS}. Search for others.`
  return list.certain ? '' : 'Of very many keys, some that belong here may be missing. The counts are right.'
}
