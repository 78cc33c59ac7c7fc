// Shows another view of a page with numbers, or newer ones: fetches its address, and swaps what has changed.
import { noAnswer } from './api.ts'
import { makeSlider, unitOfTip } from './chart-tip.ts'
import { byId, element, on, say } from './elements.ts'

/** Milliseconds between two refreshes, and the least between two that nobody asked for. */
const [REFRESH_MS, MIN_MS] = [30_000, 10_000]
/** The pause in typing after which a text is searched. */
const TYPING_MS = 300

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
/** The visitor's time zone. Browsers that hide it report a name such as Etc/Unknown, and use UTC. */
export const TIME_ZONE = /^[A-Z]\w+\/[\w+/-]+$/.test(timeZone) && timeZone !== 'Etc/Unknown' ? timeZone : 'UTC'

let turn = 0
/** Whether the last answer had no numbers, and the message says so. */
let isOld = false
let shownAt = Date.now()
let timer: ReturnType<typeof setTimeout>

const main = () => byId('main')
/** The address of the page, in its present view or in another one. */
const isSamePage = ({ origin, pathname, search }: HTMLAnchorElement) =>
  origin === location.origin && pathname === location.pathname && typeIn(search) === typeIn(location.search)
/** The page to begin with has the path of a type's, and no type. */
const typeIn = (search: string) => new URLSearchParams(search).get('type')

/** Starts what keeps a page with numbers up to date. */
export function startSwapping(): void {
  on('click', 'main a[href]:not([download])', (found, event) => {
    const link = found as HTMLAnchorElement
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    if (!isPlain || !isSamePage(link)) return
    event.preventDefault()
    void open(link.href)
  })
  on('submit', 'main form[action]:not([method])', (form, event) => {
    event.preventDefault()
    void open(addressOf(form as HTMLFormElement))
  })
  let typing: ReturnType<typeof setTimeout>
  on('input', '#find', (field, event) => {
    clearTimeout(typing)
    if ((event as InputEvent).isComposing) return
    typing = setTimeout(() => {
      // Going back leaves a search, instead of taking off its last letters.
      const isSearching = new URLSearchParams(location.search).has('find')
      void open(addressOf((field as HTMLInputElement).form!), isSearching ? 'replaceState' : 'pushState')
    }, TYPING_MS)
  })
  addEventListener('popstate', () => {
    const field = document.querySelector<HTMLInputElement>('#find')
    if (field !== null) field.value = new URLSearchParams(location.search).get('find') ?? ''
    void load(true)
  })
  addEventListener('online', soon)
  addEventListener('pageshow', ({ persisted }) => persisted && soon())
  document.addEventListener('visibilitychange', soon)
  if (main().dataset.zone !== TIME_ZONE) void load(false)
  else later(REFRESH_MS)
}

/** Shows another page with numbers, or the newest of this one, as somebody asked for. */
export async function open(address: string, how: 'pushState' | 'replaceState' = 'pushState'): Promise<void> {
  if (address !== location.href) history[how](null, '', address)
  await load(true)
}

/** What a form asks for, without what it leaves empty. */
function addressOf(form: HTMLFormElement): string {
  const given = [...new FormData(form)].filter(([, value]) => value !== '') as [string, string][]
  const url = new URL(form.action)
  url.search = new URLSearchParams(given).toString()
  return url.href
}

function later(ms: number): void {
  clearTimeout(timer)
  timer = setTimeout(() => void (document.hidden || isInUse() ? later(MIN_MS) : load(false)), ms)
}

const soon = () => later(Math.max(0, shownAt + MIN_MS - Date.now()))

/** Whether a refresh would take something away: a text that is typed or selected, an open panel or dialog. */
function isInUse(): boolean {
  const selection = getSelection()
  const isSelected = selection?.isCollapsed === false && selection.containsNode(main(), true)
  const fields = [...main().querySelectorAll<HTMLInputElement>('input:not([type=hidden], [type=checkbox])')]
  const isTyped = fields.some((field) => field.value !== field.defaultValue || field === document.activeElement)
  return isSelected || isTyped || main().querySelector(':popover-open, dialog[open]') !== null
}

/** Fetches the present address, and shows it. @param isAsked whether somebody waits for it */
async function load(isAsked: boolean): Promise<void> {
  const own = ++turn
  const url = new URL(location.href)
  url.searchParams.set('tz', TIME_ZONE)
  if (isAsked) main().ariaBusy = 'true'
  const [page, failure] = await fetch(url, { headers: { Accept: 'text/html' } })
    .then(async (response) => [await response.text(), `The Worker answered ${response.status}.`] as const)
    .then(([text, failure]) => [new DOMParser().parseFromString(text, 'text/html'), failure] as const)
    .catch(() => [null, noAnswer()] as const)
  // Another request is under way.
  if (own !== turn) return
  shownAt = Date.now()
  later(REFRESH_MS)
  const next = page?.querySelector<HTMLElement>('main[data-zone]')
  if (!page || !next) {
    const told = page?.querySelector('#trouble')?.textContent ?? failure
    if (page?.querySelector('#token')) {
      say('Your session has ended. ', element('a', { href: location.href }, 'Sign in again.'))
    } else if (main().dataset.zone) say(`${told} These are the last known numbers.`)
    main().ariaBusy = 'false'
    isOld = true
    const state = document.querySelector<HTMLElement>('#state')
    if (state === null) return
    state.dataset.state = 'unknown'
    state.lastElementChild!.textContent = 'Not up to date'
    return
  }
  if (isOld) say()
  isOld = false
  if (!isAsked && isInUse()) return
  for (const id of ['state', 'next', 'problems']) {
    const newer = page.getElementById(id)
    if (newer !== null) document.getElementById(id)?.replaceWith(newer)
  }
  document.title = page.title
  swap(next)
  const text = (selector: string) => next.querySelector(selector)?.textContent ?? ''
  if (isAsked) byId('announcement').textContent = `${text('#chart-days')}: ${text('#chart-sum')}`
}

/** Puts the new main part in the place of the old one. Focus, typed text, opened parts and places scrolled to stay. */
function swap(next: HTMLElement): void {
  const old = main()
  const focused = document.activeElement
  const place = focused instanceof HTMLElement && old.contains(focused) ? placeOf(focused) : null
  for (const part of old.querySelectorAll<HTMLElement>('[id]')) {
    const same = next.querySelector<HTMLElement>(`#${CSS.escape(part.id)}`)
    if (same === null) continue
    if (part instanceof HTMLDetailsElement) (same as HTMLDetailsElement).open = part.open
    // What was typed since is searched next.
    if (part.id === 'find') (same as HTMLInputElement).value = (part as HTMLInputElement).value
  }
  const scrolled = old.querySelector('.scroll')?.scrollTop ?? 0
  const unit = unitOfTip()
  old.replaceWith(next)
  next.querySelector('.scroll')?.scrollTo(0, scrolled)
  makeSlider(unit)
  if (place === null) return
  const found = [...next.querySelectorAll<HTMLElement>('a, button, input, summary, [tabindex]')].find(
    (each) => placeOf(each) === place,
  )
  const target = found ?? next.querySelector<HTMLElement>('#chart')
  target?.focus({ preventScroll: true })
  if (focused instanceof HTMLInputElement && target instanceof HTMLInputElement && focused.type === 'search') {
    target.setSelectionRange(focused.selectionStart, focused.selectionEnd)
  }
}

/** By what an element is found again after a swap. */
function placeOf(part: HTMLElement): string {
  if (part.id !== '') return `#${part.id}`
  return `${part.closest('nav, table, section')?.getAttribute('aria-label') ?? ''} ${part.textContent}`
}
