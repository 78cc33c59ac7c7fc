import { ask, hasCounters, messageOf, path, type Status } from './api.ts'
import { startListCsv } from './csv-buttons.ts'
import { byId, startCopyButtons } from './elements.ts'
import { setText } from './figures.ts'
import type { TypeNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { poll } from './polling.ts'
import { startRollUpState } from './roll-up-state.ts'
import { startShortcuts } from './shortcuts.ts'
import { TopList } from './top-list.ts'

/** How many rows "Show more" adds, and the maximum. */
const MORE = 20
const MAX_ROWS = 100

/** Starts the page of a type. */
export function startOverviewPage(type: string, unit: string): void {
  const list = new TopList(type)
  const more = byId<HTMLButtonElement>('more')
  const input = byId<HTMLInputElement>('find')
  // The index of the row to focus once it exists.
  let focusAt: number | null = null
  let lookedForFirst = false
  const prefixes = document.querySelectorAll<HTMLButtonElement>('#prefixes button')
  const keepForCsv = startListCsv(type)

  const page = startNumbers<TypeNumbers>({
    type,
    unit,
    show(numbers, { find, period }, asked) {
      const { chart, total, also, timeZone, prefix } = numbers
      const { counters, more: hasMore } = numbers.list
      list.show(counters, period === 'all' ? total : chart.count, asked)
      keepForCsv(numbers)
      document.querySelector('.figures.also')?.toggleAttribute('hidden', also === undefined)
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
      if (counters.length === 0 && find === '' && BigInt(total) === 0n && !lookedForFirst) {
        lookedForFirst = true
        void lookForFirst()
      }
    },
  })

  /** Nothing has been rolled up, but something may have been counted. */
  async function lookForFirst(): Promise<void> {
    try {
      if (!(await hasCounters(type))) startFirstRun(type, page.refresh)
    } catch (error) {
      setText('top-message', messageOf(error))
      lookedForFirst = false
    }
  }

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
  startShortcuts(page.change)
}

function listMessage({ list: { counters, more, certain }, total }: TypeNumbers, find: string): string {
  if (counters.length === 0) {
    if (find !== '') return 'No key begins with that. Upper and lower case differ.'
    return BigInt(total) === 0n
      ? 'Nothing has been rolled up yet. The next roll-up is due within a minute.'
      : 'Nothing was counted in this period. Choose a longer one.'
  }
  if (more && counters.length >= MAX_ROWS) return `These are the first ${MAX_ROWS}. Search for others.`
  return certain ? '' : 'With this many keys the list may be incomplete. The counts shown are exact.'
}

/** Each time takes two requests. */
const EVERY_MS = 40_000

/** Shows what to paste until something is counted. Then it calls `arrived`. */
function startFirstRun(type: string, arrived: () => void): void {
  const section = byId('first-run')
  section.hidden = false
  poll(EVERY_MS, async () => {
    try {
      if (await hasCounters(type)) {
        section.hidden = true
        setText('first-run-message', 'The first one has been counted.')
        arrived()
        return 'done'
      }
      setText('first-run-message', 'Nothing has been counted yet.')
      // Those who may not see all types have no status.
      if (document.getElementById('pending') !== null) setText('first-run-refused', await lastRefused(type))
      return 'changed'
    } catch (error) {
      setText('first-run-message', messageOf(error))
      return 'failed'
    }
  })
}

async function lastRefused(type: string): Promise<string> {
  const { isolate } = await ask<Status>('GET', path('status'))
  const ignored = isolate.ignored.find((hit) => hit.type === type)
  if (ignored === undefined) return ''
  const { cause, advice, origin } = ignored
  return `A hit${origin === null ? '' : ` from ${origin}`} was not counted. ${cause} ${advice}`
}
