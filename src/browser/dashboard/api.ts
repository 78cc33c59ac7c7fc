import { basePath } from './address.ts'
import { ApiError, type Problem } from './api-error.ts'
import { element } from './elements.ts'
import { parseExactly } from './formats.ts'

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
  throw new ApiError(status, answer as Problem)
}

function showSignedOut(): void {
  if (document.getElementById('signed-out') !== null) return
  // With a fragment, the link would only move the page.
  const link = element('a', { href: location.pathname + location.search }, 'Sign in again.')
  const notice = element('p', { id: 'signed-out', class: 'notice', role: 'alert' }, 'Your session has ended. ', link)
  document.querySelector('main')?.before(notice)
}
