import type { Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod/mini'
import { fieldErrors } from '../field-errors.ts'
import type { AppEnv } from './context.ts'
import { invalidRequest, Problem } from './problem.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * Reads and checks a JSON body. `limitBody` must bound its size. An empty body that is optional is read as `{}`.
 *
 * @throws {Problem} 400, 415 or 422
 */
export async function readJson<Schema extends z.ZodMiniType>(
  c: Context<AppEnv>,
  { schema, optional = false }: { schema: () => Schema; optional?: boolean },
): Promise<z.infer<Schema>> {
  const bytes = await c.req.arrayBuffer().catch(() => {
    throw cutOff()
  })
  if (bytes.byteLength === 0 && optional) return check(schema, {})
  checkMediaType(c, ['application/json'])
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw malformed()
  }
  return check(schema, parse(text))
}

/**
 * Reads and checks a JSON body of a few kilobytes, and its size, by the fastest way: for the hot path.
 *
 * @throws {Problem} 400, 413, 415 or 422
 */
export async function readShortJson<Schema extends z.ZodMiniType>(
  c: Context<AppEnv>,
  { schema, maxBytes, contentTypes }: { schema: () => Schema; maxBytes: number; contentTypes: readonly string[] },
): Promise<z.infer<Schema>> {
  const { raw } = c.req
  const announced = raw.headers.get('Content-Length')
  let text: string
  if (announced === null) text = await readUpTo(raw.body, maxBytes)
  else if (Number(announced) > maxBytes) throw tooLarge(maxBytes)
  else {
    text = await raw.text().catch(() => {
      throw cutOff()
    })
  }
  checkMediaType(c, contentTypes)
  // Invalid UTF-8 was replaced by this character. It would count under a key that nobody meant.
  if (text.includes('\uFFFD')) throw malformed()
  return check(schema, parse(text))
}

/** Reads a body without Content-Length, up to the limit. */
async function readUpTo(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  if (body === null) return ''
  const lax = new TextDecoder()
  let text = ''
  let bytes = 0
  const chunks = body.getReader()
  for (;;) {
    const { done, value } = await chunks.read().catch(() => {
      throw cutOff()
    })
    if (done) return text + lax.decode()
    bytes += value.byteLength
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    text += lax.decode(value, { stream: true })
  }
}

function checkMediaType(c: Context<AppEnv>, accepted: readonly string[]): void {
  const header = c.req.raw.headers.get('Content-Type')
  if (header !== null && (accepted.includes(header) || accepted.includes(mediaType(header)))) return
  throw new Problem('unsupported_media_type', {
    detail: `Send the body with Content-Type: ${accepted.join(' or ')}.`,
    headers: { Accept: accepted.join(', ') },
  })
}

function mediaType(header: string): string {
  return header.split(';')[0]!.trim().toLowerCase()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed()
  }
}

// Made on first use, as those of query strings are.
const schemas = new WeakMap<() => z.ZodMiniType, z.ZodMiniType>()

/**
 * Checks a value that a client sent.
 *
 * @param make makes the schema; always the same function for a path
 * @throws {Problem} 422
 */
export function check<Schema extends z.ZodMiniType>(make: () => Schema, value: unknown): z.infer<Schema> {
  const schema = (schemas.get(make) as Schema | undefined) ?? make()
  schemas.set(make, schema)
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw invalidRequest(fieldErrors(parsed.error, 'body'))
  return parsed.data
}

function malformed(): Problem {
  return new Problem('malformed_body', { detail: 'The body must be one JSON value in UTF-8.' })
}

function tooLarge(maxBytes: number): Problem {
  return new Problem('body_too_large', { detail: `The body may have at most ${maxBytes} bytes.` })
}

/** Refuses bodies that are too large, without reading all of them. */
export function limitBody(maxSize: number) {
  const limit = bodyLimit({
    maxSize,
    onError: () => {
      throw tooLarge(maxSize)
    },
  })
  return createMiddleware<AppEnv>(async (c, next) => {
    try {
      return await limit(c, next)
    } catch (error) {
      throw error instanceof Problem ? error : cutOff()
    }
  })
}

/** The client hung up in the middle of the body, or sent less than it announced. */
export function cutOff(): Problem {
  return new Problem('malformed_body', { detail: 'The body ended before it was complete.' })
}
