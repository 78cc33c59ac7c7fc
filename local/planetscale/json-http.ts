import type { IncomingMessage, ServerResponse } from 'node:http'

/** As vtgate's default for one message (grpc_max_message_size). */
const MAX_BODY_BYTES = 16 * 1024 * 1024

/** A request that is answered with an HTTP error. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Reads the body of a request. @throws {HttpError} if it is too large or is not a JSON object */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // A body is read to its end: Node reads no further request from a connection with an unread rest.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  if (size > MAX_BODY_BYTES) {
    throw new HttpError(413, 'RESOURCE_EXHAUSTED', `the body is larger than ${MAX_BODY_BYTES} bytes`)
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  } catch {
    // The same error as for other JSON.
  }
  throw new HttpError(400, 'INVALID_ARGUMENT', 'the body must be a JSON object')
}

/** Sends a response, unless the client has disconnected. */
export function sendJson(response: ServerResponse, body: object, status = 200): void {
  if (response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
