import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import type { Part } from './part.ts'

/** The token of the Workers under test. */
export const TOKEN = 'a-token-for-faults'

/** Milliseconds after which a request that was not answered is a failure of the test: everybody gets an answer. */
const ANSWER_MS = 40_000

const agent = new Agent({ keepAlive: true })
const api = { Authorization: `Bearer ${TOKEN}` }

/** What a client knows of its increments: they are counted, certainly are not, or nobody told it. */
export type Fate = 'counted' | 'refused' | 'unknown'

/** A request that counts. */
export interface Message {
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
}

/** A hit, as a browser sends it. */
export function hitOf({ type, key }: Part): Message {
  return { method: 'POST', path: '/hit', body: { type, key } }
}

/** An increment of one counter, as a program sends it. */
export function incrementOf({ type, key, by }: Part): Message {
  return { method: 'POST', path: `/v1/counters/${type}/${encodeURIComponent(key)}`, headers: api, body: { by } }
}

/** Increments of several counters, all of which count or none. */
export function incrementsOf(increments: readonly Part[]): Message {
  return { method: 'POST', path: '/v1/increments', headers: api, body: { increments } }
}

/** The same, under an idempotency key. */
export function under(key: string, message: Message): Message {
  return { ...message, headers: { ...message.headers, 'Idempotency-Key': key } }
}

/** The same, from a client with which all of the request's work ends. */
export function mortal(message: Message): Message {
  return { ...message, headers: { ...message.headers, 'Test-Mortal': '1' } }
}

/**
 * Sends a request.
 *
 * @param hangUp when it settles, the client hangs up with RST, whatever has come back by then
 * @throws {Error} for an answer that no client may be given, or none at all
 */
export function send(url: string, { method, path, headers, body }: Message, hangUp?: Promise<unknown>): Promise<Fate> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const sent = request(url + path, {
      method,
      // Hanging up must not end a connection that others use.
      agent: hangUp === undefined ? agent : false,
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) },
    })
    const patience = setTimeout(() => {
      reject(new Error(`${method} ${path} was not answered`))
      sent.destroy()
    }, ANSWER_MS)
    sent.once('close', () => clearTimeout(patience))
    sent.once('error', (error: NodeJS.ErrnoException) => {
      // Nobody listened, so nothing was sent.
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'unknown')
    })
    sent.once('response', (response) => {
      response.resume()
      response.once('error', () => resolve('unknown'))
      response.once('end', () => {
        const fate = fateOf(response)
        if (fate !== null) resolve(fate)
        else reject(new Error(`${method} ${path}: ${response.statusCode}, X-Hit: ${response.headers['x-hit']}`))
      })
    })
    sent.end(text)
    void hangUp?.finally(() => cut(sent))
  })
}

/**
 * Sends a request and leaves without waiting for an answer, with RST or with an orderly FIN.
 *
 * @param afterMs milliseconds from the moment that the kernel has taken all of it
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
    socket.once('error', () => {})
    socket.once('close', () => resolve())
    socket.write(`${head.join('\r\n')}\r\n\r\n${text}`, () => {
      if (afterMs === 0) leave()
      else setTimeout(leave, afterMs)
    })
  })
}

/** What an answer says; `null` if it says nothing of the kind. */
function fateOf({ statusCode, headers }: IncomingMessage): Fate | null {
  const said = headers['x-hit']
  if (said === 'counted') return statusCode === 200 || statusCode === 204 ? 'counted' : null
  if (statusCode !== 503 || typeof said !== 'string') return null
  if (said === 'unknown') return 'unknown'
  return said.startsWith('ignored') ? 'refused' : null
}

/** Hangs up with RST, as a client does that is gone. */
function cut(sent: ClientRequest): void {
  if (sent.socket?.connecting === false) sent.socket.resetAndDestroy()
  else sent.destroy()
}
