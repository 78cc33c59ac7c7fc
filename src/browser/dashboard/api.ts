/** The Worker's base path; empty for the root. */
export const BASE = document.documentElement.dataset.base ?? ''

/** An error response, or that there was none (status 0). */
export class ApiError extends Error {
  readonly status: number
  /** That of the problem document, `no_answer` or `outcome_unknown`. */
  readonly code: string

  constructor(status: number, { code = '', detail = '' }: { code?: string; detail?: string }) {
    super(OWN[code] ?? (detail || `The Worker answered ${status}.`))
    this.status = status
    this.code = code
  }
}

/** What only the page knows, or says otherwise than to programs. */
const OWN: Record<string, string> = {
  outcome_unknown: 'The outcome is unknown: the change may or may not have been made. Reload the page to see.',
  unauthorized: 'Your session has ended. Sign in again.',
}

/** What a page says if there is no response. */
export const noAnswer = () => (navigator.onLine ? 'The Worker does not respond.' : 'You are offline.')

/** What a page says of a failed request, and what happens `next` if that may pass. */
export function messageOf(error: unknown, next = 'Try again.'): string {
  if (!(error instanceof ApiError)) return String(error)
  const { status, code, message } = error
  const passes = status === 0 || status === 429 || status >= 500
  return passes && code !== 'outcome_unknown' ? `${message} ${next}` : message
}

/** A path of the API, with its segments encoded. */
export function path(...segments: string[]): string {
  return `${BASE}/v1/${segments.map(encodeURIComponent).join('/')}`
}

/** Sends a request, and a change with its idempotency key. Counts in the answer are strings. @throws {ApiError} status 0: no answer */
export async function ask<Answer>(method: string, path: string, body?: string, key?: string): Promise<Answer> {
  const isJson = body !== undefined && { 'Content-Type': 'application/json' }
  const headers = { ...isJson, ...(key !== undefined && { 'Idempotency-Key': key }) }
  const { status, ok, text } = await fetch(path, { method, headers, body: body ?? null })
    .then(async (response) => ({ status: response.status, ok: response.ok, text: await response.text() }))
    .catch(() => Promise.reject(new ApiError(0, { detail: noAnswer() })))
  let answer: unknown
  try {
    // A number of JavaScript would round a count. In a string of JSON, the quote would be escaped.
    answer = JSON.parse(text.replaceAll(/"count":(-?\d+)/g, '"count":"$1"'))
  } catch {
    throw new ApiError(status, {})
  }
  if (ok) return answer as Answer
  throw new ApiError(status, answer as { code: string; detail: string })
}
