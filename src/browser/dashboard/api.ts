import { basePath } from './address.ts'
import { element } from './elements.ts'
import { type Count, parseExactly } from './exact-json.ts'

const OFFLINE = 'You are offline. The numbers are those from before, and go on when you are back.'
const NO_ANSWER = 'The Worker does not answer. This page keeps trying.'

/** An error response. The message is the API's. */
export class ApiError extends Error {
  readonly status: number
  /** Empty if it is not a problem document. */
  readonly code: string
  constructor(status: number, message: string, code = '') {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface KeyCount {
  key: string
  count: Count
}

/** The Worker's status. `null`: the database did not report it. */
export interface Status {
  /** Problems that need attention. */
  problems?: { detail: string }[]
  pendingSlots: number | null
  pendingSlotsAtLeast: boolean
  rollUp: { running: boolean | null; behindSeconds: number | null }
  isolate: {
    /** The latest hits that were not counted, the latest one first. */
    ignored: { type: string; reason: string; origin: string | null }[]
  }
}

/** Builds a path of the API, with its segments encoded. */
export function path(...segments: string[]): string {
  return `${basePath()}/v1/${segments.map(encodeURIComponent).join('/')}`
}

/**
 * Sends a request to the API, which recognizes the browser by its session cookie.
 *
 * @param body JSON
 * @param idempotencyKey of a change
 * @throws {ApiError} if the response is an error, or with status 0 if there was no response
 */
export async function ask<Answer>(
  method: string,
  path: string,
  body?: string,
  idempotencyKey?: string,
): Promise<Answer> {
  const response = await fetch(path, {
    method,
    // Caches may keep rankings for a while. The dashboard wants the current ones.
    cache: 'no-cache',
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: body ?? null,
  }).catch(() => {
    throw new ApiError(0, navigator.onLine ? NO_ANSWER : OFFLINE)
  })
  const { status, ok } = response
  const text = await response.text()
  let answer: unknown
  try {
    answer = parseExactly(text)
  } catch {
    throw new ApiError(status, `The Worker answered ${status}.`)
  }
  if (ok) return answer as Answer
  if (status === 401) showSignedOut()
  const { detail, code } = answer as { detail?: string; code?: string }
  throw new ApiError(status, detail ?? `The Worker answered ${status}.`, code)
}

/** Whether something has been counted, rolled up or not. */
export async function hasCounters(type: string): Promise<boolean> {
  const { counters } = await ask<{ counters: KeyCount[] }>('GET', `${path('search', type)}?limit=1`)
  return counters.length > 0
}

/**
 * Sends a change of a counter. If there is no response, it is sent once more: its key makes sure that it takes effect once.
 *
 * @param body JSON
 * @throws {ApiError} as `ask` does
 */
export async function change<Answer>(method: string, path: string, body?: string): Promise<Answer> {
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-')
  try {
    return await ask(method, path, body, key)
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) return ask(method, path, body, key)
    throw error
  }
}

/** The message to show for an error. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : String(error)
}

function showSignedOut(): void {
  if (document.getElementById('signed-out') !== null) return
  const link = element('a', { href: location.href }, 'Sign in again.')
  const notice = element('p', { id: 'signed-out', class: 'notice', role: 'alert' }, 'Your session has ended. ', link)
  document.querySelector('main')?.before(notice)
}
