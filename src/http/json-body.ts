import type { Context } from 'hono'
import type * as v from 'valibot'
import type { Route } from '../openapi/contract.ts'
import { check } from '../service/check-input.ts'
import { Problem } from '../service/problem.ts'
import type { AppEnv } from './hono.ts'
import { HttpProblem } from './problem-response.ts'

type BodyOf<Schema> = NonNullable<Route['body']> & { schema: () => Schema }

/** Reads and checks a JSON body. An empty optional body is `{}`. @throws {Problem} 400, 413, 415 or 422 */
export async function readJson<Schema extends v.GenericSchema>(
  c: Context<AppEnv>,
  { schema, maxBytes, contentTypes = ['application/json'], optional = false }: BodyOf<Schema>,
): Promise<v.InferOutput<Schema>> {
  const text = await readText(c, maxBytes)
  if (text === '' && optional) return check(schema, {})
  checkMediaType(c, contentTypes)
  return check(schema, orMalformed(JSON.parse, text))
}

/** Made once: a decoder costs as much as reading the body of a hit. It keeps nothing of a text, not even of a wrong one. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Reads a body without reading more than the limit. @throws {Problem} 400 or 413 */
export async function readText(c: Context<AppEnv>, maxBytes: number): Promise<string> {
  const { headers, body } = c.req.raw
  const announced = headers.get('Content-Length')
  if (Number(announced) > maxBytes) throw tooLarge(maxBytes)
  if (body === null) return ''
  // As a whole it is faster, which hits need. But another Worker may have announced what it liked.
  const isShort = announced !== null && Number(announced) <= maxBytes
  const bytes = await (isShort ? c.req.raw.arrayBuffer() : readChunks(body, maxBytes)).catch(() => {
    throw new Problem('malformed_body', 'The body ended before it was complete.')
  })
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
  return orMalformed((bytes) => decoder.decode(bytes), bytes)
}

/** Reads a stream, or its beginning if that is longer than the limit. */
async function readChunks(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > maxBytes) break
  }
  return new Blob(chunks).arrayBuffer()
}

function checkMediaType(c: Context<AppEnv>, accepted: readonly string[]): void {
  const header = c.req.raw.headers.get('Content-Type')
  if (header !== null && accepted.includes(header.split(';')[0]!.trim().toLowerCase())) return
  const detail = `Send the body with Content-Type: ${accepted.join(' or ')}.`
  throw new HttpProblem('unsupported_media_type', detail, { Accept: accepted.join(', ') })
}

function orMalformed<Input, Output>(read: (input: Input) => Output, input: Input): Output {
  try {
    return read(input)
  } catch {
    throw new Problem('malformed_body', 'The body must be one JSON value in UTF-8.')
  }
}

function tooLarge(maxBytes: number): Problem {
  return new Problem('body_too_large', `The body may have at most ${maxBytes} bytes.`)
}
