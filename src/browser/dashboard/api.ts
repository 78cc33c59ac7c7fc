import { basePath } from './address.ts'
import { element, setText } from './elements.ts'
import { parseExactly } from './formats.ts'

/** An error response, or that there was none. */
export class ApiError extends Error {
  /** 0: there was no response. */
  readonly status: number
  /** That of the problem document, `offline`, `no_answer` or `outcome_unknown`. */
  readonly code: string

  constructor(status: number, { code = '', detail = '' }: { code?: string; detail?: string }) {
    super(OWN[code] ?? (detail || `The Worker answered ${status}.`))
    this.status = status
    this.code = code
  }
}

/** What only the page knows, or says otherwise than to programs. */
const OWN: Record<string, string> = {
  offline: 'You are offline.',
  no_answer: 'The Worker does not answer.',
  outcome_unknown: 'No answer came: this may or may not have been done. Load the page again to see.',
  // A notice above says that the session has ended.
  unauthorized: 'Sign in again.',
}

/** What happens next on a page that asks again by itself. */
export const KEEPS_TRYING = 'This page updates as soon as it can.'

/** What a page says of a failed request, and what happens `next` if that may pass. */
export function messageOf(error: unknown, next = 'Try again.'): string {
  if (!(error instanceof ApiError)) return String(error)
  const { status, code, message } = error
  const passes = status === 0 || status === 429 || status >= 500
  return passes && code !== 'outcome_unknown' ? `${message} ${next}` : message
}

/** A path of the API, with its segments encoded. */
export function path(...segments: string[]): string {
  return `${basePath()}/v1/${segments.map(encodeURIComponent).join('/')}`
}

/**
 * Sends a request with the session cookie, and a change with its idempotency key.
 * @throws {ApiError} if the response is an error, or with status 0 if there was none, or not all of it
 */
export async function ask<Answer>(method: string, path: string, body?: string, key?: string): Promise<Answer> {
  const headers = new Headers()
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  if (key !== undefined) headers.set('Idempotency-Key', key)
  // The browser's cache may have older rankings.
  const { status, ok, text } = await fetch(path, { method, cache: 'no-cache', headers, body: body ?? null })
    .then(async (response) => ({ status: response.status, ok: response.ok, text: await response.text() }))
    .catch(() => Promise.reject(new ApiError(0, { code: navigator.onLine ? 'no_answer' : 'offline' })))
  let answer: unknown
  try {
    answer = parseExactly(text)
  } catch {
    throw new ApiError(status, {})
  }
  if (ok) return answer as Answer
  if (status === 401) showSignedOut()
  throw new ApiError(status, answer as { code: string; detail: string })
}

function showSignedOut(): void {
  if (document.getElementById('signed-out') !== null) return
  // With a fragment, the link would only move the page.
  const link = element('a', { href: location.pathname + location.search }, 'Sign in again.')
  const notice = element('p', { id: 'signed-out', class: 'notice', role: 'alert' }, 'Your session has ended. ', link)
  document.querySelector('main')?.before(notice)
}

/** Starts a button whose work takes a while. It says what the work says meanwhile, and at last what it returns or what failed. */
export function startWork(
  button: HTMLButtonElement,
  messageId: string,
  work: (say: (text: string) => void) => Promise<string>,
): void {
  button.addEventListener('click', async () => {
    button.disabled = true
    setText(messageId, await work((text) => setText(messageId, text)).catch((error) => messageOf(error)))
    button.disabled = false
  })
}

/** The pause after a run that failed, in milliseconds. */
export const FAILED_MS = 60_000
/** The shortest time between two runs that nobody asked for, such as when a page is shown again and again. */
const MIN_MS = 10_000

/**
 * Repeats some work while the page is visible, and soon after it is visible or online again.
 * @param work returns the pause until the next run, in milliseconds; `null`: there is none
 * @param firstMs the pause before the first run
 * @returns runs the work now, or again after the current run
 */
export function poll(work: () => Promise<number | null>, firstMs = 0): () => void {
  const end = new AbortController()
  const { signal } = end
  let timer: ReturnType<typeof setTimeout> | undefined
  let running = false
  let again = false
  let lastAt = firstMs > 0 ? Date.now() : Number.NEGATIVE_INFINITY
  const plan = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(run, ms)
  }
  const run = async () => {
    clearTimeout(timer)
    again = running
    if (running || document.hidden || signal.aborted) return
    running = true
    lastAt = Date.now()
    const pause = await work().catch(() => FAILED_MS)
    running = false
    if (pause === null) end.abort()
    else if (again) void run()
    else plan(pause)
  }
  const soon = () => (document.hidden ? clearTimeout(timer) : plan(Math.max(0, lastAt + MIN_MS - Date.now())))
  document.addEventListener('visibilitychange', soon, { signal })
  addEventListener('online', soon, { signal })
  if (firstMs > 0) plan(firstMs)
  else void run()
  return run
}
