// What stands above the numbers: whether they are up to date, problems, and what was done.
import { ask, path, poll } from './api.ts'
import { byId, element, keyText, setText } from './elements.ts'

/** The pauses between two looks at the status, in milliseconds: after a change, and while nothing changes. */
const [CHANGED_MS, SAME_MS] = [60_000, 300_000]
/** The name under which a page finds what was done on the one before. */
const DONE = 'slotted-counter-done'

let problemCount = 0
let isLive: boolean | null = null

/** Starts the list of problems, for those who may see all types, and says what was done before the page was opened. */
export function startHeader(): void {
  if (document.getElementById('problems') !== null) startProblems()
  // Only those who may change counters have the place for it.
  if (document.getElementById('done') === null) return
  // Browsers may show a page again as it was.
  addEventListener('pagehide', clearDone)
  const stored = withStorage(() => sessionStorage.getItem(DONE))
  if (stored === null) return
  sessionStorage.removeItem(DONE)
  showDone(JSON.parse(stored))
}

/** Shows whether numbers could be read. */
export function showLive(live: boolean): void {
  isLive = live
  showDot()
}

/** Says what was done, until the next change. @param what texts and keys in turn */
export function showDone(what: readonly string[]): void {
  const place = byId('done')
  place.replaceChildren(element('span', {}, ...what.map((part, index) => (index % 2 === 0 ? part : keyText(part)))))
  // Screen readers read it.
  place.focus()
}

export function clearDone(): void {
  byId('done').replaceChildren()
}

/** Opens another page, which says what was done. */
export function leaveWith(what: readonly string[], address: string): void {
  withStorage(() => sessionStorage.setItem(DONE, JSON.stringify(what)))
  location.assign(address)
}

/** Uses the browser's storage. Browsers that block it throw; then the answer is `null`. */
function withStorage<Found>(use: () => Found): Found | null {
  try {
    return use()
  } catch {
    return null
  }
}

function startProblems(): void {
  let last = ''
  poll(async () => {
    const { problems = [] } = await ask<{ problems?: { detail: string }[] }>('GET', path('status'))
    const texts = problems.map(({ detail }) => detail)
    const before = last
    last = texts.join('\n')
    if (last === before) return SAME_MS
    problemCount = texts.length
    showDot()
    byId('problems').replaceChildren(...texts.map((text) => element('li', {}, text)))
    byId('problems').hidden = texts.length === 0
    return CHANGED_MS
  })
}

function showDot(): void {
  const dot = document.getElementById('state')
  // Public pages have none.
  if (dot === null) return
  let text = isLive === null ? '' : isLive ? 'Live' : 'Not up to date'
  if (problemCount > 0) text = problemCount === 1 ? '1 problem' : `${problemCount} problems`
  dot.dataset.state = problemCount > 0 ? 'problem' : isLive ? 'well' : 'unknown'
  setText('state-text', text)
}
