import { ask, path, poll } from './api.ts'
import { byId, element, setText } from './elements.ts'

/** The pauses between two looks at the status, in milliseconds: after a change, and while nothing changes. */
const [CHANGED_MS, SAME_MS] = [60_000, 300_000]

interface Problem {
  detail: string
}

let problemCount = 0
let isLive: boolean | null = null

/** Shows in the header whether numbers could be read. */
export function showLive(live: boolean): void {
  isLive = live
  showDot()
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

/** Starts the list of problems, for those who may see all types. */
export function startProblems(): void {
  if (document.getElementById('problems') === null) return
  let last = ''
  poll(async () => {
    const { problems = [] } = await ask<{ problems?: Problem[] }>('GET', path('status'))
    showProblems(problems)
    const before = last
    last = JSON.stringify(problems)
    return last === before ? SAME_MS : CHANGED_MS
  })
}

function showProblems(problems: readonly Problem[]): void {
  problemCount = problems.length
  showDot()
  const list = byId('problems')
  const items = problems.map(({ detail }) => element('li', {}, detail))
  // Screen readers would repeat an unchanged list.
  if (list.textContent === items.map(({ textContent }) => textContent).join('')) return
  list.replaceChildren(...items)
  list.hidden = problems.length === 0
}
