import type { Context } from 'hono'
import * as z from 'zod'
import type { AppEnv } from './app-env.ts'
import { Generations } from './counters/generations.ts'
import { fieldErrors } from './field-errors.ts'
import { Problem } from './problem.ts'
import { invalidRequest } from './request.ts'

/** A parameter that may be given once. */
export function once<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((values, context) => {
    if (!Array.isArray(values)) return values
    if (values.length > 1) context.addIssue({ code: 'custom', message: 'may be given once' })
    return values[0]
  }, schema)
}

/**
 * Reads the query string, strictly: what is not percent-encoded UTF-8, not known, or repeated without need is refused
 * rather than guessed at.
 *
 * @param shape what each parameter must be: a list of texts, or with `once` a text; always the same object for one path
 * @throws {Problem} 400 or 422
 */
export function readQuery<Shape extends z.ZodRawShape>(c: Context<AppEnv>, shape: Shape) {
  return parse(queryOf(c.req.url), shape)
}

/** Query strings in one generation; two of them are remembered. */
const MAX_GENERATION = 500
/** The longest that is remembered. */
const MAX_LENGTH = 512

/**
 * Reads query strings as `readQuery` does, for paths that are asked the same again and again: what the latest ones said is
 * remembered, which takes a tenth off what a hit costs.
 */
export class RememberedQueries<Shape extends z.ZodRawShape> {
  readonly #shape: Shape
  readonly #known = new Generations<Readonly<z.infer<z.ZodObject<Shape, z.core.$strict>>>>(MAX_GENERATION)

  constructor(shape: Shape) {
    this.#shape = shape
  }

  /** @throws {Problem} 400 or 422 */
  read(url: string): Readonly<z.infer<z.ZodObject<Shape, z.core.$strict>>> {
    const query = queryOf(url)
    const known = this.#known.get(query)
    if (known !== undefined) return known
    const read = parse(query, this.#shape)
    if (query.length <= MAX_LENGTH) this.#known.set(query, read)
    return read
  }
}

/** What stands behind the question mark. */
function queryOf(url: string): string {
  const begin = url.indexOf('?')
  return begin === -1 ? '' : url.slice(begin + 1)
}

function parse<Shape extends z.ZodRawShape>(query: string, shape: Shape) {
  const parameters = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const [name = '', ...rest] = pair.split('=')
    const key = decode(name)
    const values = parameters.get(key)
    if (values === undefined) parameters.set(key, [decode(rest.join('='))])
    else values.push(decode(rest.join('=')))
  }
  const parsed = schemaOf(shape).safeParse(Object.fromEntries(parameters))
  if (parsed.success) return parsed.data
  throw invalidRequest(
    fieldErrors(parsed.error, 'query').map(({ field, message }) =>
      message === 'is not known here' ? { field, message: 'is not a parameter of this path' } : { field, message },
    ),
  )
}

// Making a schema takes far longer than checking by it.
const schemas = new WeakMap<z.ZodRawShape, z.ZodObject>()

function schemaOf<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  let schema = schemas.get(shape)
  if (schema === undefined) {
    schema = z.strictObject(shape)
    schemas.set(shape, schema)
  }
  return schema as z.ZodObject<Shape, z.core.$strict>
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new Problem('malformed_query', { detail: 'The query string must be percent-encoded UTF-8.' })
  }
}
