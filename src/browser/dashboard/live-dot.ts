import type { Count } from './counts.ts'
import { showCount } from './counts.ts'
import { setText } from './figures.ts'

interface Recent {
  minutes: number
  count: Count
}

let problems = 0
let isLive: boolean | null = null
let recent: Recent | null = null

/** Shows in the header that numbers have arrived. @param counted what was counted in the last minutes; `null`: unknown */
export function showLive(counted: Recent | null): void {
  isLive = true
  recent = counted
  show()
}

/** Shows in the header that numbers could not be read. */
export function showNotLive(): void {
  isLive = false
  show()
}

/** Shows in the header how many problems the status has. */
export function showProblems(count: number): void {
  problems = count
  show()
}

function show(): void {
  const dot = document.getElementById('state')
  // Public pages have none.
  if (dot === null) return
  const counts = problems === 0 && isLive && recent !== null
  dot.dataset.state = problems > 0 ? 'problem' : isLive ? 'well' : 'unknown'
  setText('state-text', counts ? `Live · ${showCount(recent!.count)}` : textOf())
  setText('state-minutes', counts ? ` in the last ${recent!.minutes} min` : '')
}

function textOf(): string {
  if (problems > 0) return problems === 1 ? '1 problem' : `${problems} problems`
  if (isLive === null) return ''
  return isLive ? 'Live' : 'Not up to date'
}
