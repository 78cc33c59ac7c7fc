import type { Context } from 'hono'
import type * as z from 'zod'
import type { AppEnv } from './app-env.ts'
import type { CounterType } from './config.ts'
import { type Counter, counterOf, InvalidKey } from './counters/counter.ts'
import { fieldErrors } from './field-errors.ts'
import { Problem } from './problem.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * Reads a JSON body and checks it.
 *
 * @param contentTypes media types that are taken for JSON here
 * @param empty what an empty body without a content type stands for, if it may be empty
 * @throws {Problem} 400, 415 or 422
 */
export async function readJson<Schema extends z.ZodType>(
  c: Context<AppEnv>,
  schema: Schema,
  { contentTypes = ['application/json'], empty }: { contentTypes?: readonly string[]; empty?: unknown } = {},
): Promise<z.infer<Schema>> {
  const bytes = await c.req.arrayBuffer()
  const mediaType = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  let value = empty
  if (bytes.byteLength > 0 || empty === undefined) {
    if (mediaType === undefined || !contentTypes.includes(mediaType)) {
      throw new Problem('unsupported_media_type', {
        detail: `Send the body with Content-Type: ${contentTypes.join(' or ')}.`,
        headers: { Accept: contentTypes.join(', ') },
      })
    }
    try {
      value = JSON.parse(decoder.decode(bytes))
    } catch {
      throw new Problem('malformed_body', { detail: 'The body must be one JSON value in UTF-8.' })
    }
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw invalidRequest(fieldErrors(parsed.error, 'body'))
  return parsed.data
}

/** The problem of a request whose fields are wrong. */
export function invalidRequest(errors: { field: string; message: string }[]): Problem {
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
    const known = [...c.var.config.types.keys()].join(', ')
    throw new Problem('unknown_type', { detail: `The type in the path is not configured. Configured types: ${known}.` })
  }
  return type
}

/**
 * The counter whose key is the last segment of the path. Decoded here and strictly: Hono leaves a segment that is not
 * valid percent-encoding as it is, which would count it under a key that nobody meant.
 *
 * @throws {Problem} 400 or 422
 */
export async function pathCounter(c: Context<AppEnv>, type: CounterType): Promise<{ counter: Counter; key: string }> {
  const segment = new URL(c.req.url).pathname.split('/')[4] ?? ''
  let key: string
  try {
    key = decodeURIComponent(segment)
  } catch {
    throw new Problem('malformed_key', { detail: 'The key in the path must be percent-encoded UTF-8.' })
  }
  return { counter: await namedCounter(type, key, 'key'), key }
}

/**
 * The counter that a key stands for.
 *
 * @param field what the key is called where it came from
 * @throws {Problem} 422
 */
export async function namedCounter(type: CounterType, key: string, field: string): Promise<Counter> {
  try {
    return await counterOf(type, key)
  } catch (error) {
    if (error instanceof InvalidKey) throw invalidRequest([{ field, message: error.message }])
    throw error
  }
}
