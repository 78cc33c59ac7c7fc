import { visibleKey } from '../../visible-key.ts'
import { basePath, listOf, readView } from './address.ts'
import { ask } from './api.ts'
import { KEEPS_TRYING, messageOf } from './api-error.ts'
import { startListCsv } from './csv-buttons.ts'
import { byId, setText, unitOf } from './elements.ts'
import { showCount, showUnits } from './formats.ts'
import { startProblems } from './header.ts'
import { type Asked, ROWS, startNumbers } from './live-numbers.ts'
import type { Count, ListedCounter, TypeNumbers } from './numbers-answer.ts'
import { poll } from './polling.ts'
import { startTopList } from './top-list.ts'

/** How many rows "Show more" adds, and the most. */
const MORE = 20
const MAX_ROWS = 100
/** The pause in typing after which a text is searched, and the shortest time between two such searches. */
const PAUSE_MS = 1_000
const APART_MS = 20_000
/** The pause while the page waits for the first hit. With its other requests, six a minute. */
const FIRST_RUN_MS = 20_000

/** Starts the page of a type. */
export function startOverviewPage(type: string): void {
  const list = byId('top')
  const showRows = startTopList(type)
  const more = byId<HTMLButtonElement>('more')
  const input = byId<HTMLInputElement>('find')
  input.value = readView().find
  // The numbers on the page with what they were asked for, and the first hundred of the same period for the filter.
  let shown: (Asked & { numbers: TypeNumbers }) | undefined
  let leading: readonly ListedCounter[] = []
  let leadingOf = ''
  // The index of the row to focus once it exists.
  let focusAt: number | null = null
  // Who comes back finds as many rows, at the same place.
  const place = history.state as { rows: number; y: number } | null
  addEventListener('pagehide', () => history.replaceState({ rows: shown?.rows ?? ROWS, y: scrollY }, ''))
  const prefixes = document.querySelectorAll<HTMLButtonElement>('#prefixes button')
  const showFirstRun = firstRunOf(type, () => page.refresh())

  const show = (numbers: TypeNumbers, asked: Asked) => {
    const { total, timeZone, prefix } = numbers
    const { find } = asked.view
    const isFirst = shown === undefined
    shown = { ...asked, numbers }
    showList(asked.isNew)
    if (isFirst && place !== null) scrollTo(0, place.y)
    more.disabled = false
    setText('top-of', numbers.list.of === null ? '' : showCount(numbers.list.of))
    const tooMany = prefix === null && [...prefixes].some(({ value }) => value !== '' && value === find)
    const scope = tooMany ? 'Figures and chart are of all keys: too many begin with this prefix. ' : ''
    setText('as-of', `${scope}As of the last roll-up. Days begin at midnight in ${timeZone}.`)
    for (const button of prefixes) button.setAttribute('aria-pressed', String(button.value === (prefix ?? '')))
    showFirstRun(numbers.list.counters.length === 0 && find === '' && BigInt(total) === 0n)
  }
  const page = startNumbers<TypeNumbers>({ type }, show, place?.rows)

  /** Shows the answer to the text in the field, or what the page has of it until that arrives. */
  function showList(asked: boolean): void {
    if (shown === undefined) return
    const { numbers, view, rows } = shown
    const text = input.value
    const isAnswer = text === view.find
    const { counters, more: hasMore } = numbers.list
    const others = leadingOf === listOf({ ...view, find: '' }) ? leading : []
    const found = isAnswer ? counters : filtered(text, [...others, ...counters])
    showRows(found.slice(0, rows), asked)
    more.hidden = rows >= MAX_ROWS || (found.length <= rows && !(isAnswer && hasMore))
    if (focusAt !== null) list.children[focusAt]?.querySelector('a')?.focus()
    focusAt = null
    setText('top-message', isAnswer ? listMessage(numbers, text) : found.length === 0 ? 'Searching all keys …' : '')
  }

  /** Reads the first hundred, once for each period. */
  async function readLeading(): Promise<void> {
    const of = listOf({ ...readView(), find: '' })
    if (leadingOf === of) return
    leadingOf = of
    try {
      const { list } = await page.ask(MAX_ROWS, { find: '' })
      leading = list.counters
      showList(true)
    } catch {
      // The search asks again, and reports problems.
      leadingOf = ''
    }
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  let searchedAt = Number.NEGATIVE_INFINITY
  const search = () => {
    clearTimeout(timer)
    searchedAt = Date.now()
    page.change({ find: input.value })
  }
  input.addEventListener('focus', readLeading)
  input.addEventListener('input', () => {
    // The rows that were asked for may still come.
    focusAt = null
    showList(true)
    void readLeading()
    clearTimeout(timer)
    timer = setTimeout(search, Math.max(PAUSE_MS, searchedAt + APART_MS - Date.now()))
  })
  input.form!.addEventListener('submit', (event) => {
    event.preventDefault()
    search()
  })
  addEventListener('popstate', () => {
    input.value = readView().find
    showList(true)
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
    page.showRows(Math.min(MAX_ROWS, (shown?.rows ?? ROWS) + MORE))
  })
  startListCsv(type, page.ask)
  startProblems()
}

function listMessage({ list: { counters, more, ranked } }: TypeNumbers, find: string): string {
  if (counters.length === 0) {
    if (find !== '')
      return 'Nothing found in this period: no key begins with this, and none of the first 100 contains it.'
    return 'Nothing was counted in this period. Choose a longer one.'
  }
  if (!ranked && find === '')
    return 'Too many counters to rank by this period: these lead all time. A day in UTC, a month in UTC and all time are ranked.'
  if (!ranked) return 'Too many keys begin with this: after the first 100 of all, they are in the order of the keys.'
  return more && counters.length >= MAX_ROWS ? `These are the first ${MAX_ROWS}. Filter for others.` : ''
}

/** The counters whose keys contain a text, in any case, in the order of their counts. Each key once: the last one counts. */
function filtered(text: string, counters: readonly ListedCounter[]): ListedCounter[] {
  const wanted = text.toLowerCase()
  const found = counters.filter(({ key }) => key.toLowerCase().includes(wanted))
  const byKey = new Map(found.map((counter) => [counter.key, counter]))
  return [...byKey.values()].sort((a, b) => Number(BigInt(b.count) - BigInt(a.count)))
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
      if (first === null) return 'changed'
      section.classList.add('done')
      arrived()
      return 'done'
    } catch (error) {
      section.hidden = false
      setText('first-run-state', messageOf(error, KEEPS_TRYING))
      return 'failed'
    }
  }
  return (isEmpty) => {
    main.classList.toggle('empty', isEmpty && !wereReset)
    if (isEmpty && !began) poll(FIRST_RUN_MS, look)
    // "Just now" is true until there is more.
    if (shown) section.hidden = true
    began ||= isEmpty
    shown ||= began && !isEmpty
  }
}
