import { change, path } from './api.ts'
import type { Count } from './counts.ts'

/** What happens to a counter, and with `also` to those of its key in the types that its type names in `also`. */
export interface Move {
  action: 'delete' | 'rename' | 'merge'
  type: string
  key: string
  /** The other key; empty for deletions. */
  other: string
  also: boolean
}

/** Sets a counter. Returns by how much that changed it; `null` if only a lost answer told. @throws {ApiError} */
export async function setCount(type: string, key: string, count: bigint): Promise<Count | null> {
  // A JavaScript number would round the digits.
  const { added } = await change<{ added: Count | null }>('PUT', counterPath(type, key), `{"count":${count}}`)
  return added
}

/**
 * Adds to a counter as an adjustment: what is counted meanwhile stays.
 * @param id repeats with the same one add once
 * @throws {ApiError}
 */
export async function adjustCount(type: string, key: string, by: bigint, id: string): Promise<void> {
  await change('POST', path('imports'), JSON.stringify({ counters: [{ type, key, count: String(by) }] }), id)
}

/** @param id repeats with the same one take effect once; default: a new one @throws {ApiError} */
export async function moveCounter({ action, type, key, other, also }: Move, id?: string): Promise<void> {
  const query = { ...(also && { also: 'true' }) }
  if (action === 'delete') await change('DELETE', counterPath(type, key, query), undefined, id)
  else {
    const body = JSON.stringify(action === 'rename' ? { to: other } : { into: other })
    await change('POST', counterPath(type, key, query, action), body, id)
  }
}

/** The path of a counter. Its key is in the query, because a path cannot have the keys "." and "..". */
function counterPath(type: string, key: string, query: Record<string, string> = {}, ...action: string[]): string {
  return `${path('counters', type, ...action)}?${new URLSearchParams({ key, ...query })}`
}
