import type { Context } from 'hono'
import type { AppEnv } from './app-env.ts'
import type { CounterType } from './config.ts'
import { type Counter, InvalidKey } from './counters/counter.ts'
import type { KnownCounters } from './counters/known-counters.ts'
import type { FieldError } from './field-errors.ts'
import { Problem } from './problem.ts'

/** The problem of a request whose fields are wrong. */
export function invalidRequest(errors: FieldError[]): Problem {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Problem('invalid_request', { detail: `${first?.field} ${first?.message}${more}.`, errors })
}

/**
 * The counter type that the path names.
 *
 * @throws {Problem} 404
 */
export function pathType(c: Context<AppEnv>): CounterType {
  const type = c.var.config.types.get(c.req.param('type') ?? '')
  if (type === undefined) {
    // Only what anybody may know: the names of the others may tell something.
    const known = [...c.var.config.types.values()].filter((known) => known.public).map(({ name }) => name)
    throw new Problem('unknown_type', {
      detail: `The type in the path is not configured. Public types: ${known.join(', ') || 'none'}.`,
    })
  }
  return type
}

/**
 * The counter whose key is the last segment of the path.
 *
 * @throws {Problem} 400 or 422
 */
export async function pathCounter(c: Context<AppEnv>, type: CounterType): Promise<{ counter: Counter; key: string }> {
  const key = decodeKey(new URL(c.req.url).pathname.split('/')[4] ?? '')
  return { counter: await namedCounter(c.var.known, type, key, 'key'), key }
}

/**
 * The key that a path segment, or what follows in a path, spells. Decoded here and strictly: Hono leaves a segment that is not valid
 * percent-encoding as it is, which would count it under a key that nobody meant.
 *
 * @throws {Problem} 400
 */
export function decodeKey(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Problem('malformed_key', { detail: 'The key in the path must be percent-encoded UTF-8.' })
  }
}

/**
 * The counter that a key stands for.
 *
 * @param key text, or for types with integer keys also a number
 * @param field what the key is called where it came from
 * @throws {Problem} 422
 */
export async function namedCounter(
  known: KnownCounters,
  type: CounterType,
  key: string | number,
  field: string,
): Promise<Counter> {
  const found = await findCounter(known, type, key)
  if (typeof found === 'string') throw invalidRequest([{ field, message: found }])
  return found
}

/** The counter that a key stands for, or what is wrong with the key. */
export async function findCounter(
  known: KnownCounters,
  type: CounterType,
  key: string | number,
): Promise<Counter | string> {
  if (typeof key === 'number' && type.key === 'string') return 'must be a string'
  try {
    return await known.of(type, String(key))
  } catch (error) {
    if (error instanceof InvalidKey) return error.message
    throw error
  }
}
