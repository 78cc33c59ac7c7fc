import type { Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod'
import type { AppEnv } from './app-env.ts'
import { fieldErrors } from './field-errors.ts'
import { Problem } from './problem.ts'
import { invalidRequest } from './request.ts'

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
  const bytes = await c.req.arrayBuffer().catch(() => {
    throw cutOff()
  })
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

/** Refuses bodies over a size, without reading them to their end. */
export function limitBody(maxSize: number) {
  const limit = bodyLimit({
    maxSize,
    onError: () => {
      throw new Problem('body_too_large', { detail: `The body may have at most ${maxSize} bytes.` })
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

/** The client hung up in the middle of the body, or announced more than it sent. */
function cutOff(): Problem {
  return new Problem('malformed_body', { detail: 'The body ended before it was complete.' })
}
