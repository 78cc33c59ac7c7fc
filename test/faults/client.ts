import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import type { Increment } from './increment.ts'

/** The token of the Workers under test. */
export const TOKEN = 'a-token-for-faults'

/** Milliseconds within which every request must be answered. */
const ANSWER_MS = 90_000

const agent = new Agent({ keepAlive: true })
/** The headers of a request with the token. */
export const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` }

/** What a client knows about its increments: they were counted, will be counted, were not counted, or it is unknown. */
export type Fate = 'counted' | 'queued' | 'refused' | 'unknown'

/** A request that counts. */
export interface Message {
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** Milliseconds within which it must be answered. Default: 90 s. */
  answerMs?: number
}

/** A hit, as a browser sends it. */
export function hitOf({ type, key }: Increment): Message {
  return { method: 'POST', path: '/hit', body: { type, key } }
}

/** A hit by the image. */
export function pixelOf({ type, key }: Increment): Message {
  return { method: 'GET', path: `/hit.gif?type=${type}&key=${encodeURIComponent(key)}` }
}

/** An increment of one counter, as a program sends it. */
export function incrementOf({ type, key, by }: Increment): Message {
  return { method: 'POST', path: `/v1/counters/${type}/${encodeURIComponent(key)}`, headers: AUTHORIZED, body: { by } }
}

/** Increments of several counters. All of them count, or none. */
export function incrementsOf(increments: readonly Increment[]): Message {
  return { method: 'POST', path: '/v1/increments', headers: AUTHORIZED, body: { increments } }
}

/** The message with an idempotency key. */
export const under = (key: string, message: Message) => withHeader(message, 'Idempotency-Key', key)

/** The message from a client whose request, with all of its work, ends when the client hangs up. */
export const mortal = (message: Message) => withHeader(message, 'Test-Mortal', '1')

/** The message from another visitor. */
export const fromAddress = (address: string, message: Message) => withHeader(message, 'CF-Connecting-IP', address)

function withHeader(message: Message, name: string, value: string): Message {
  return { ...message, headers: { ...message.headers, [name]: value } }
}

/**
 * Sends a request that counts.
 *
 * @param hangUp when it settles, the client hangs up with RST, whether or not it has been answered
 * @throws {Error} if there is no answer, or one that no client may get
 */
export async function send(url: string, message: Message, hangUp?: Promise<unknown>): Promise<Fate> {
  const answer = await exchange(url, message, hangUp)
  if (typeof answer === 'string') return answer
  const fate = fateOf(answer)
  if (fate === null) throw unexpected(message, answer)
  return fate
}

/**
 * Sends any request.
 *
 * @param hangUp as for `send`
 * @returns the status of the answer, or what it means that there is none
 */
export async function statusOf(
  url: string,
  message: Message,
  hangUp?: Promise<unknown>,
): Promise<number | 'refused' | 'unknown'> {
  const answer = await exchange(url, message, hangUp)
  return typeof answer === 'string' ? answer : answer.statusCode!
}

/** Sends a visit to a type that counts each visitor once. */
export async function sendVisit(url: string, message: Message): Promise<Fate | 'duplicate'> {
  const answer = await exchange(url, message)
  if (typeof answer === 'string') return answer
  const isDuplicate = answer.statusCode === 204 && answer.headers['x-hit'] === 'ignored; reason=duplicate'
  const fate = isDuplicate ? 'duplicate' : fateOf(answer)
  if (fate === null) throw unexpected(message, answer)
  return fate
}

function unexpected({ method, path }: Message, { statusCode, headers }: IncomingMessage): Error {
  return new Error(`${method} ${path}: ${statusCode}, X-Hit: ${headers['x-hit']}`)
}

/** Sends a request. Without an answer, settles to what that means for its increments. */
function exchange(
  url: string,
  { method, path, headers, body, answerMs = ANSWER_MS }: Message,
  hangUp?: Promise<unknown>,
): Promise<IncomingMessage | 'refused' | 'unknown'> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const sent = request(url + path, {
      method,
      // Hanging up must not end a connection that other requests use.
      agent: hangUp === undefined ? agent : false,
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) },
    })
    const timeout = setTimeout(() => {
      reject(new Error(`${method} ${path} was not answered`))
      sent.destroy()
    }, answerMs)
    sent.once('close', () => clearTimeout(timeout))
    sent.once('error', (error: NodeJS.ErrnoException) => {
      // Without a listener nothing was sent.
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'unknown')
    })
    sent.once('response', (response) => {
      response.resume()
      response.once('error', () => resolve('unknown'))
      response.once('end', () => resolve(response))
    })
    sent.end(text)
    // With RST, as a client does that dies.
    void hangUp?.finally(() => (sent.socket?.connecting === false ? sent.socket.resetAndDestroy() : sent.destroy()))
  })
}

/**
 * Sends a request and leaves without waiting for the answer, with RST or with an orderly FIN.
 *
 * @param afterMs milliseconds from the moment when the kernel has accepted all of the request
 */
export function sendAndLeave(
  port: number,
  { method, path, headers = {}, body }: Message,
  { by, afterMs }: { by: 'RST' | 'FIN'; afterMs: number },
): Promise<void> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ]
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const leave = () => (by === 'RST' ? socket.resetAndDestroy() : socket.destroy())
    // Node emits no 'close' for a connection that is reset while it shuts down.
    socket.once('error', () => resolve())
    socket.once('close', () => resolve())
    socket.write(`${head.join('\r\n')}\r\n\r\n${text}`, () => {
      if (afterMs === 0) leave()
      else setTimeout(leave, afterMs)
    })
  })
}

/** The fate that an answer tells, or `null` if no client may get this answer. */
function fateOf({ statusCode, headers }: IncomingMessage): Fate | null {
  const said = headers['x-hit']
  if (said === 'counted') return statusCode === 200 || statusCode === 204 ? 'counted' : null
  if (said === 'queued') return statusCode === 200 || statusCode === 202 || statusCode === 204 ? 'queued' : null
  // An image is an image even if its hit was not counted.
  if (said === 'unknown' && statusCode === 200 && headers['content-type'] === 'image/gif') return 'unknown'
  if (statusCode !== 503 || typeof said !== 'string') return null
  if (said === 'unknown') return 'unknown'
  return said.startsWith('ignored') ? 'refused' : null
}
