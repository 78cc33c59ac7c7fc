import { type Count, parseExactly } from './numbers.ts'

/** An answer that is an error, in the API's words. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface Counter {
  type: string
  key: string
  count: Count
  total: Count
  pending: Count
  rolledUpAt: string | null
}

export interface Point {
  start: string
  count: Count
}

export interface Adjustment {
  at: string
  kind: string
  count: Count
}

export interface History {
  points: Point[]
  /** Of one counter only. */
  adjustments?: Adjustment[]
}

export interface KeyCount {
  key: string
  count: Count
}

/** How things stand; `null`: the database did not say. */
export interface Status {
  /** What a person should look at. */
  problems?: { detail: string }[]
  pendingSlots: number | null
  pendingSlotsAtLeast: boolean
  rollUp: { running: boolean | null; behindSeconds: number | null }
}

/** A path of the API: its segments and its parameters, encoded. */
export function path(segments: readonly string[], parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(parameters).toString()
  return `/v1/${segments.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`
}

/**
 * Asks the API, which knows the browser by its session.
 *
 * @param body what to send, JSON
 * @throws {ApiError} also if there was no answer, with status 0
 */
export async function ask<Answer>(method: string, path: string, body?: string): Promise<Answer> {
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    // Rankings may be kept for a while by others; here they are to be as they are.
    cache: 'no-cache',
    ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
  }).catch(() => {
    throw new ApiError(0, 'The Worker does not answer.')
  })
  const text = await response.text()
  let answer: unknown
  try {
    answer = parseExactly(text)
  } catch {
    throw new ApiError(response.status, `The Worker answered ${response.status}.`)
  }
  if (response.ok) return answer as Answer
  if (response.status === 401) showSignedOut()
  const { detail } = answer as { detail?: string }
  throw new ApiError(response.status, detail ?? `The Worker answered ${response.status}.`)
}

/** Whatever went wrong, in words for the page. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : String(error)
}

function showSignedOut(): void {
  if (document.getElementById('signed-out') !== null) return
  const notice = document.createElement('p')
  notice.id = 'signed-out'
  notice.className = 'notice'
  notice.setAttribute('role', 'alert')
  const link = document.createElement('a')
  link.href = location.href
  link.textContent = 'Sign in again.'
  notice.append('Your session has ended. ', link)
  document.querySelector('main')?.before(notice)
}
