import type { Context } from 'hono'
import { routePath } from 'hono/route'
import type { CounterType } from '../config/counter-types.ts'
import { Problem } from '../service/problem.ts'
import { type AppEnv, publicPath } from './context.ts'

/** Stands in a path for a key that is a parameter. No request has it, because no URL decodes to half a character. */
export const KEY_IN_QUERY = '\ud800'

const COUNTER_PATH = /^(\/v1\/counters\/[^/]+)(\/(?:history|rename|merge))?$/
const HAS_KEY = /[?&]key=/

/**
 * The path by which a request is routed. In front of what is done to a counter, its key may be left out and sent as `?key=`: the
 * keys "." and ".." cannot stand in a path, because every client takes them for folders. A `GET` without more in its path lists
 * counters, and reads its keys itself.
 *
 * @param path the path below the base path
 */
export function routedPath({ method, url }: Request, path: string): string {
  if (!path.startsWith('/v1/counters/') || !HAS_KEY.test(url)) return path
  const [, counters, action = ''] = COUNTER_PATH.exec(path) ?? []
  if (counters === undefined || (action === '' && ['GET', 'HEAD', 'OPTIONS'].includes(method))) return path
  return `${counters}/${KEY_IN_QUERY}${action}`
}

/**
 * The counter type that the path names.
 *
 * @param name its name, if it is not the parameter `type` as a whole
 * @throws {Problem} 404
 */
export function pathType(c: Context<AppEnv>, name = c.req.param('type') ?? ''): CounterType {
  const { types } = c.get('isolate').config
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
