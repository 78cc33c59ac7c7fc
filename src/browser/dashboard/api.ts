import { basePath } from './address.ts'
import { ApiError, type Problem } from './api-error.ts'
import { type Count, parseExactly } from './counts.ts'
import { element } from './elements.ts'

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

/** A new idempotency key. */
export function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** What happens to a counter; with `also`, to those of its key in the types that its type names so too. */
export interface Move {
  action: 'delete' | 'rename' | 'merge'
  type: string
  key: string
  /** The other key; empty for deletions. */
  other: string
  also: boolean
}

/** The count of a counter. @throws {ApiError} */
export async function countOf(type: string, key: string): Promise<bigint> {
  const { counters } = await ask<{ counters: { count: Count }[] }>('GET', counterPath(type, key))
  return BigInt(counters[0]!.count)
}

/** Finds the counter of a typed key, which the type may spell otherwise: the first one that begins with it. @throws {ApiError} */
export async function findCounter(type: string, key: string): Promise<{ key: string; count: Count } | null> {
  const query = new URLSearchParams({ prefix: key, limit: '1' })
  const found = await ask<{ counters: { key: string; count: Count }[] }>('GET', `${path('search', type)}?${query}`)
  const [first] = found.counters
  return first?.key.length === key.length ? first : null
}

/** Sets a counter. Returns by how much that changed it; `null` if only a lost answer told. @throws {ApiError} */
export async function setCount(type: string, key: string, count: bigint): Promise<Count | null> {
  // A JavaScript number would round the digits.
  const { added } = await change<{ added: Count | null }>('PUT', counterPath(type, key), `{"count":${count}}`)
  return added
}

/** Adds to a counter as an adjustment, once for each `id`: what is counted meanwhile stays. @throws {ApiError} */
export async function adjustCount(type: string, key: string, by: bigint, id: string): Promise<void> {
  await change('POST', path('imports'), JSON.stringify({ counters: [{ type, key, count: String(by) }] }), id)
}

/** @param id repeats with the same one take effect once; default: a new one @throws {ApiError} */
export async function moveCounter({ action, type, key, other, also }: Move, id?: string): Promise<void> {
  const query = also ? { also: 'true' } : {}
  const body = { rename: JSON.stringify({ to: other }), merge: JSON.stringify({ into: other }) }
  if (action === 'delete') await change('DELETE', counterPath(type, key, query), undefined, id)
  else await change('POST', counterPath(type, key, query, action), body[action], id)
}

/**
 * Sends a change as `ask` does, and once more if its outcome is unknown: the key makes it take effect once.
 * @throws {ApiError} with status 0 if the outcome still is
 */
function change<Answer>(method: string, path: string, body?: string, key = newKey()): Promise<Answer> {
  const isUnknown = (error: unknown) =>
    error instanceof ApiError && (error.status === 0 || error.code === 'outcome_unknown')
  const attempt = () => ask<Answer>(method, path, body, key)
  return attempt()
    .catch((error) => (isUnknown(error) ? attempt() : Promise.reject(error)))
    .catch((error) => {
      throw isUnknown(error) ? new ApiError(0, { code: 'outcome_unknown' }) : error
    })
}

/** The path of a counter. Its key is in the query, because a path cannot have the keys "." and "..". */
function counterPath(type: string, key: string, query: Record<string, string> = {}, ...action: string[]): string {
  return `${path('counters', type, ...action)}?${new URLSearchParams({ key, ...query })}`
}

function showSignedOut(): void {
  if (document.getElementById('signed-out') !== null) return
  // With a fragment, the link would only move the page.
  const link = element('a', { href: location.pathname + location.search }, 'Sign in again.')
  const notice = element('p', { id: 'signed-out', class: 'notice', role: 'alert' }, 'Your session has ended. ', link)
  document.querySelector('main')?.before(notice)
}
