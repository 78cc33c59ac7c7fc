import { basePath } from './address.ts'
import { ApiError, type Problem } from './api-error.ts'
import { parseExactly } from './counts.ts'
import { element } from './elements.ts'

/** The Worker's status. `null`: the database did not report it. */
export interface Status {
  problems?: { detail: string }[]
  pendingSlots: number | null
  pendingSlotsAtLeast: boolean
  rollUp: { running: boolean | null; behindSeconds: number | null }
}

/** A path of the API, with its segments encoded. */
export function path(...segments: string[]): string {
  return `${basePath()}/v1/${segments.map(encodeURIComponent).join('/')}`
}

/**
 * Sends a request with the session cookie.
 * @param body JSON
 * @param key the idempotency key of a change
 * @throws {ApiError} if the response is an error, or with status 0 if there was no response
 */
export async function ask<Answer>(method: string, path: string, body?: string, key?: string): Promise<Answer> {
  const { status, ok, text } = await fetch(path, {
    method,
    // The browser's cache may have older rankings.
    cache: 'no-cache',
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    body: body ?? null,
  })
    .then(async (response) => ({ status: response.status, ok: response.ok, text: await response.text() }))
    // An answer that is cut off is lost too.
    .catch(() => {
      throw new ApiError(0, { code: navigator.onLine ? 'no_answer' : 'offline' })
    })
  let answer: unknown
  try {
    answer = parseExactly(text)
  } catch {
    throw new ApiError(status, {})
  }
  if (ok) return answer as Answer
  if (status === 401) showSignedOut()
  throw new ApiError(status, answer as Problem)
}

/** A new idempotency key. */
export function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/**
 * Sends a change as `ask` does, and once more if its outcome is unknown: the key makes it take effect once.
 * @throws {ApiError} with status 0 if the outcome still is
 */
export async function change<Answer>(method: string, path: string, body?: string, key = newKey()): Promise<Answer> {
  const attempt = () => ask<Answer>(method, path, body, key)
  const isUnknown = (error: unknown) =>
    error instanceof ApiError && (error.status === 0 || error.code === 'outcome_unknown')
  try {
    return await attempt().catch((error) => {
      if (isUnknown(error)) return attempt()
      throw error
    })
  } catch (error) {
    throw isUnknown(error) ? new ApiError(0, { code: 'outcome_unknown' }) : error
  }
}

function showSignedOut(): void {
  if (document.getElementById('signed-out') !== null) return
  // With a fragment, the link would only move the page.
  const link = element('a', { href: location.pathname + location.search }, 'Sign in again.')
  const notice = element('p', { id: 'signed-out', class: 'notice', role: 'alert' }, 'Your session has ended. ', link)
  document.querySelector('main')?.before(notice)
}
