import type { Context } from 'hono'
import * as z from 'zod'
import type { AppEnv } from './app-env.ts'
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
  const parameters = new Map<string, string[]>()
  const { url } = c.req
  const begin = url.indexOf('?')
  for (const pair of begin === -1 ? [] : url.slice(begin + 1).split('&')) {
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
