import { createConnection } from 'node:net'

/** What to send, and how. */
export interface Pipelined {
  port: number
  /** The text of a request without a body. */
  request: string
  /** How many times to send it. */
  times: number
  connections: number
  /** Requests that a connection sends before it waits for their responses. */
  depth: number
}

/**
 * Sends a request many times and checks that all responses are equal, byte for byte. It does as little work as possible,
 * because it shares the machine with the server.
 *
 * @returns the response
 * @throws {Error} at the first response that differs
 */
export async function sendPipelined({ port, request, times, connections, depth }: Pipelined): Promise<string> {
  const requests = Buffer.from(request.repeat(depth))
  let left = times
  let answer: Buffer | undefined
  const connection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
      let missing = 0
      /** Bytes of the current response that have arrived. */
      let received = 0
      const send = () => {
        missing = Math.min(depth, left)
        left -= missing
        if (missing === 0) socket.end()
        else socket.write(requests.subarray(0, missing * request.length))
      }
      socket.once('connect', send).once('error', reject)
      socket.once('close', () => (missing === 0 ? resolve() : reject(new Error('the server hung up'))))
      socket.on('data', (chunk) => {
        answer ??= firstAnswer(chunk)
        for (let at = 0; at < chunk.length; ) {
          const length = Math.min(answer.length - received, chunk.length - at)
          if (answer.compare(chunk, at, at + length, received, received + length) !== 0) {
            return socket.destroy(new Error(`another answer:\n${chunk.subarray(at)}\nthan the first:\n${answer}`))
          }
          at += length
          received += length
          if (received === answer.length) {
            received = 0
            missing--
          }
        }
        if (missing === 0) send()
      })
    })
  await Promise.all(Array.from({ length: connections }, connection))
  return answer?.toString() ?? ''
}

/** The first response in a chunk; it must be a 204. */
function firstAnswer(chunk: Buffer): Buffer {
  const end = chunk.indexOf('\r\n\r\n')
  if (!chunk.subarray(0, 13).equals(Buffer.from('HTTP/1.1 204 ')) || end < 0) throw new Error(`not 204:\n${chunk}`)
  return chunk.subarray(0, end + 4)
}
