import type { Context } from 'hono'
import { routePath } from 'hono/route'
import type * as v from 'valibot'
import { BoundedMap } from '../bounded-map.ts'
import type { CounterType } from '../config/counter-types.ts'
import { BASE_PATH_FORM, type Bindings } from '../config/read-settings.ts'
import type { FieldError } from '../schemas.ts'
import { checkParameters, parameterOf } from '../service/check-input.ts'
import { configuredType } from '../service/named-counters.ts'
import { Problem } from '../service/problem.ts'
import type { AppEnv } from './hono.ts'

/** The base path, such as `/counter`; empty for the root, and for a wrong setting, so that its problem can be read there. */
export function basePathOf({ BASE_PATH }: Bindings): string {
  return typeof BASE_PATH === 'string' && BASE_PATH_FORM.test(BASE_PATH) ? BASE_PATH : ''
}

/** The rest of a path below the base path, beginning with a slash; `null` if the path is not below it. */
export function belowBasePath(base: string, path: string): string | null {
  if (base === '') return path
  if (!path.startsWith(base)) return null
  if (path.length === base.length) return '/'
  return path[base.length] === '/' ? path.slice(base.length) : null
}

/** Adds the base path to a path. */
export function publicPath(c: Context<AppEnv>, path: string): string {
  return basePathOf(c.env) + path
}

/** The counter type in the path. @throws {Problem} 404 @throws {ConfigurationError} if it has a mistake in the settings */
export function pathType(c: Context<AppEnv>, name = c.req.param('type') ?? ''): CounterType {
  const type = configuredType(c.get('isolate'), name)
  if (type !== undefined) return type
  // Not the others: strangers must not learn what is counted.
  const known = [...c.get('isolate').config.types.values()].filter((known) => known.public).map(({ name }) => name)
  const detail = `The type in the path is not configured. Public types: ${known.join(', ') || 'none'}.`
  throw new Problem('unknown_type', detail)
}

/** What follows the type, still encoded: a segment, or all for `*`. Hono's parameter would hide invalid encoding. */
export function rawPathKey(c: Context<AppEnv>): string {
  const pattern = routePath(c).split('/')
  const place = pattern.indexOf(':type') + 1
  // By the number of segments: a client may percent-encode the base path too.
  const before = publicPath(c, '').split('/').length - 1
  const segments = new URL(c.req.url).pathname.split('/').slice(before + place)
  return pattern[place] === '*' ? segments.join('/') : (segments[0] ?? '')
}

/** Decodes a key strictly: a malformed one must not count under a key that nobody meant. @throws {Problem} 400 */
export function decodeKey(raw: string): string {
  try {
    return decodeURIComponent(raw)
  } catch {
    throw new Problem('malformed_key', 'The key in the path must be percent-encoded UTF-8.')
  }
}

/** Characters of the longest URL that is cached. */
const MAX_LENGTH = 512

/** `readQuery` with a cache, for paths with few different query strings. It saves a tenth of the cost of a hit. */
export function rememberedQueries<Shape extends v.ObjectEntries>(shape: () => Shape, ignoresUnknown = false) {
  const read = new BoundedMap<Readonly<ReturnType<typeof readQuery<Shape>>>>(500)
  return (url: string) => {
    const known = read.get(url)
    if (known !== undefined) return known
    const parsed = readQuery(url, shape, ignoresUnknown)
    if (url.length <= MAX_LENGTH) read.set(url, parsed)
    return parsed
  }
}

/**
 * Reads a query string strictly: malformed UTF-8, unknown parameters and unwanted repetition are errors. @throws {Problem} 400 or 422
 * @param shape always the same function for a path @param ignoresUnknown for images: `?v=2` gets past a cache
 */
export function readQuery<Shape extends v.ObjectEntries>(url: string, shape: () => Shape, ignoresUnknown = false) {
  const begin = url.indexOf('?')
  const pairs = begin === -1 ? [] : url.slice(begin + 1).split('&')
  const parameters = new Map<string, string | string[]>()
  const repeated: FieldError[] = []
  for (const pair of pairs) {
    if (pair === '') continue
    const [rawName = '', ...rest] = pair.split('=')
    const name = decode(rawName)
    const schema = name === undefined ? undefined : parameterOf(shape, name)
    if (ignoresUnknown && schema === undefined) continue
    const value = decode(rest.join('='))
    if (name === undefined || value === undefined) {
      throw new Problem('malformed_query', 'The query string must be percent-encoded UTF-8.')
    }
    if (schema?.type === 'array') parameters.set(name, [...(parameters.get(name) ?? []), value])
    else if (schema === undefined || !parameters.has(name)) parameters.set(name, value)
    else repeated.push({ field: name, message: 'must not be repeated' })
  }
  return checkParameters(shape, Object.fromEntries(parameters), repeated)
}

/** The text; `undefined` if it is not percent-encoded UTF-8. */
function decode(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
