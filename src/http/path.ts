import type { Context } from 'hono'
import { routePath } from 'hono/route'
import { basePathOf } from '../config/base-path.ts'
import type { CounterType } from '../config/counter-types.ts'
import { isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'
import { Problem } from './problem.ts'

/** The path by which clients reach one of the Worker's own paths. */
export function publicPath(c: Context<AppEnv>, path: string): string {
  return basePathOf(c.env) + path
}

/**
 * The counter type that the path names.
 *
 * @param name its name, if it is not the parameter `type` as a whole
 * @throws {Problem} 404
 */
export function pathType(c: Context<AppEnv>, name = c.req.param('type') ?? ''): CounterType {
  const { types } = isolateOf(c.env).config
  const type = types.get(name)
  if (type !== undefined) return type
  // Only those that anybody may read: a list of the others would tell strangers what is counted.
  const known = [...types.values()].filter((known) => known.public).map(({ name }) => name)
  throw new Problem('unknown_type', {
    detail: `The type in the path is not configured. Public types: ${known.join(', ') || 'none'}.`,
  })
}

/**
 * What follows the type in the path, as it was sent: one segment, or all of them if the route ends in `*`. Not Hono's parameter,
 * because Hono leaves a segment that is not valid percent-encoding as it is.
 */
export function rawPathKey(c: Context<AppEnv>): string {
  const pattern = routePath(c).split('/')
  const place = pattern.indexOf(':type') + 1
  // Counted, not cut off: the base path too may be percent-encoded.
  const before = publicPath(c, '').split('/').length - 1
  const segments = new URL(c.req.url).pathname.split('/').slice(before + place)
  return pattern[place] === '*' ? segments.join('/') : (segments[0] ?? '')
}

/**
 * Decodes a key of a path, strictly: otherwise a malformed one would count under a key that nobody meant.
 *
 * @throws {Problem} 400
 */
export function decodeKey(raw: string): string {
  try {
    return decodeURIComponent(raw)
  } catch {
    throw new Problem('malformed_key', { detail: 'The key in the path must be percent-encoded UTF-8.' })
  }
}
