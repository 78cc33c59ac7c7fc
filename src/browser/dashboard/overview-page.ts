import { visibleKey } from '../../visible-key.ts'
import { basePath, readView } from './address.ts'
import { ask, FAILED_MS, KEEPS_TRYING, messageOf, poll, startWork } from './api.ts'
import { byId, saveCsv, setText, unitOf } from './elements.ts'
import { showCount, showUnits } from './formats.ts'
import { type Asked, ROWS, startNumbers } from './live-numbers.ts'
import type { Count, TypeNumbers } from './numbers-answer.ts'
import { startTopList } from './top-list.ts'

/** How many rows "Show more" adds, the most on the page, and the most in a file. */
const [MORE, MAX_ROWS, MAX_SAVED] = [20, 100, 1_000]
/** The pause in typing after which a text is searched. */
const PAUSE_MS = 300
/** The pause while the page waits for the first hit. With its other requests, six a minute. */
const FIRST_RUN_MS = 20_000

/** Starts the page of a type. */
export function startOverviewPage(type: string): void {
  const list = byId('top')
  const showList = startTopList(type)
  const more = byId<HTMLButtonElement>('more')
  const input = byId<HTMLInputElement>('find')
  const prefixes = document.querySelectorAll<HTMLButtonElement>('#prefixes button')
  const showFirstRun = firstRunOf(type, () => page.refresh())
  // Who comes back finds as many rows, at the same place.
  let back = history.state as { rows: number; y: number } | null
  let shownRows = ROWS
  addEventListener('pagehide', () => history.replaceState({ rows: shownRows, y: scrollY }, ''))
  // The index of the row to focus once it exists.
  let focusAt: number | null = null

  const show = (numbers: TypeNumbers, { view: { find }, rows, isNew }: Asked) => {
    const { counters, of, more: hasMore } = numbers.list
    shownRows = rows
    showList(counters, isNew)
    if (focusAt !== null) list.children[focusAt]?.querySelector('a')?.focus()
    focusAt = null
    more.hidden = rows >= MAX_ROWS || !hasMore
    more.disabled = false
    setText('top-message', listMessage(numbers, find))
    setText('top-of', of === null ? '' : showCount(of))
    const prefix = numbers.prefix ?? ''
    const tooMany = prefix !== find && [...prefixes].some(({ value }) => value === find)
    const scope = tooMany ? 'Figures and chart are of all keys: too many begin with this prefix. ' : ''
    setText('as-of', `${scope}As of the last roll-up. Days begin at midnight in ${numbers.timeZone}.`)
    for (const button of prefixes) button.setAttribute('aria-pressed', String(button.value === prefix))
    showFirstRun(counters.length === 0 && find === '' && BigInt(numbers.total) === 0n)
    if (back !== null) scrollTo(0, back.y)
    back = null
  }
  const page = startNumbers<TypeNumbers>({ type }, show, back?.rows)

  let timer: ReturnType<typeof setTimeout> | undefined
  const search = () => {
    clearTimeout(timer)
    const find = input.value
    // Going back leaves a search, instead of taking off its last letters.
    page.change({ find }, find !== '' && readView().find !== '' ? 'replaceState' : 'pushState')
  }
  const readInput = () => {
    input.value = readView().find
  }
  readInput()
  addEventListener('popstate', readInput)
  input.addEventListener('input', () => {
    // The rows that were asked for may still come.
    focusAt = null
    clearTimeout(timer)
    timer = setTimeout(search, PAUSE_MS)
  })
  input.form!.addEventListener('submit', (event) => {
    event.preventDefault()
    search()
  })
  for (const button of prefixes) {
    button.addEventListener('click', () => {
      input.value = button.value
      page.change({ find: button.value })
    })
  }
  more.addEventListener('click', () => {
    focusAt = list.childElementCount
    more.disabled = true
    page.showRows(Math.min(MAX_ROWS, shownRows + MORE))
  })
  startWork(byId<HTMLButtonElement>('list-csv'), 'list-csv-message', async (say) => {
    say('Reading …')
    return saveList(type, await page.ask(MAX_SAVED))
  })
}

/** Saves the list of counters as CSV. Returns what the page says of it. */
function saveList(type: string, { list: { counters, more }, chart }: TypeNumbers): string {
  const hasVisitors = counters.some(({ also }) => also !== undefined)
  const fields = (['count', 'also', 'compared', 'before'] as const).filter((field) => hasVisitors || field !== 'also')
  saveCsv(
    `${type}-${readView().find || 'keys'}-${chart.first}-${chart.last}`,
    ['key', ...fields.map((field) => (field === 'also' ? 'visitors' : field))],
    counters.map((counter) => [counter.key, ...fields.map((field) => counter[field])]),
  )
  const rows = showCount(counters.length)
  return more ? `Saved the first ${rows} rows.` : `Rows saved: ${rows}.`
}

function listMessage({ list: { counters, more, ranked } }: TypeNumbers, find: string): string {
  if (counters.length === 0) {
    if (find !== '')
      return 'Nothing found in this period: no key begins with this, and none of the first 100 contains it.'
    return 'Nothing was counted in this period. Choose a longer one.'
  }
  if (!ranked && find === '')
    return 'Too many counters to rank by this period: these lead all time. A day in UTC, a month in UTC and all time are ranked.'
  if (!ranked) return 'Too many matches to rank. Matches among the top 100 come first, then the rest alphabetically.'
  return more && counters.length >= MAX_ROWS ? `These are the first ${MAX_ROWS}. Filter for others.` : ''
}

interface FirstRun {
  /** The first counter, which has been rolled up; `null`: nothing has been counted. */
  first: { key: string; count: Count } | null
  /** Why the latest hit did not count. */
  refused: string
}

/** Shows the steps to the first hit instead of numbers while there are none. Returns what is told whether new numbers are empty. */
function firstRunOf(type: string, arrived: () => void): (isEmpty: boolean) => void {
  const section = byId('first-run')
  const main = document.querySelector('main')!
  let began = false
  let shown = false
  let wereReset = false
  const look = async () => {
    try {
      const query = new URLSearchParams({ type })
      const { first, refused } = await ask<FirstRun>('POST', `${basePath()}/first-run?${query}`)
      // Counters that were set to zero are no first hit, and the page shows that it has no numbers.
      wereReset = first !== null && BigInt(first.count) === 0n
      section.hidden = wereReset
      if (wereReset) main.classList.remove('empty')
      const counted = first && `${visibleKey(first.key)}, ${showUnits(first.count, unitOf(main))}, just now`
      setText('first-run-state', counted ?? 'Waiting for the first hit …')
      setText('first-run-refused', refused)
      if (first === null) return FIRST_RUN_MS
      section.classList.add('done')
      arrived()
      return null
    } catch (error) {
      section.hidden = false
      setText('first-run-state', messageOf(error, KEEPS_TRYING))
      return FAILED_MS
    }
  }
  return (isEmpty) => {
    main.classList.toggle('empty', isEmpty && !wereReset)
    if (isEmpty && !began) poll(look)
    // "Just now" is true until there is more.
    if (shown) section.hidden = true
    began ||= isEmpty
    shown ||= began && !isEmpty
  }
}
