import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { BoundedMap } from '../bounded-map.ts'
import { checkParameters, isParameter } from '../service/fields.ts'
import { Problem } from '../service/problem.ts'
import type { AppEnv } from './context.ts'

/**
 * Reads the query string strictly: malformed UTF-8, unknown parameters and unwanted repetition are errors.
 * @param shape makes the schemas, of lists of strings or (with `once`) of strings; always the same function for a path
 * @throws {Problem} 400 or 422
 */
export function readQuery<Shape extends z.core.$ZodShape>(c: Context<AppEnv>, shape: () => Shape) {
  return parse(queryOf(c.req.url), shape)
}

/**
 * `readQuery` for images: it ignores unknown parameters, such as `?v=2` to get past a cache.
 * @throws {Problem} 400 or 422
 */
export function readImageQuery<Shape extends z.core.$ZodShape>(c: Context<AppEnv>, shape: () => Shape) {
  return parse(queryOf(c.req.url), shape, { ignoresUnknown: true })
}

/** Query strings in one generation of the cache; it holds two. */
const MAX_GENERATION = 500
/** Characters of the longest query string that is cached. */
const MAX_LENGTH = 512

/**
 * `readQuery` with a cache, for paths with few different query strings. It saves a tenth of the cost of a hit.
 * @param options `ignoresUnknown`: as `readImageQuery`
 */
export function rememberedQueries<Shape extends z.core.$ZodShape>(
  shape: () => Shape,
  options?: { ignoresUnknown: boolean },
) {
  const read = new BoundedMap<Readonly<ReturnType<typeof parse<Shape>>>>(MAX_GENERATION)
  return (url: string) => {
    const query = queryOf(url)
    const known = read.get(query)
    if (known !== undefined) return known
    const parsed = parse(query, shape, options)
    if (query.length <= MAX_LENGTH) read.set(query, parsed)
    return parsed
  }
}

function queryOf(url: string): string {
  const begin = url.indexOf('?')
  return begin === -1 ? '' : url.slice(begin + 1)
}

function parse<Shape extends z.core.$ZodShape>(
  query: string,
  shape: () => Shape,
  { ignoresUnknown } = { ignoresUnknown: false },
) {
  const parameters = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const [rawName = '', ...rest] = pair.split('=')
    const name = decode(rawName)
    if (ignoresUnknown && (name === undefined || !isParameter(shape, name))) continue
    const value = decode(rest.join('='))
    if (name === undefined || value === undefined) {
      throw new Problem('malformed_query', { detail: 'The query string must be percent-encoded UTF-8.' })
    }
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return checkParameters(shape, Object.fromEntries(parameters))
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
