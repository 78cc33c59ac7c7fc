import { createConnection } from 'node:net'

/** What to send. */
export interface Pipelined {
  port: number
  /** One request without a body, head and all. */
  request: string
  /** How many times. */
  times: number
  connections: number
  /** Requests that one connection sends at once. */
  depth: number
}

/**
 * Sends one request very often, and checks that every answer is, byte for byte, the same. As little work as that can be: the
 * machine is the server's too.
 *
 * @returns the answer
 * @throws {Error} at the first answer that differs
 */
export async function sendPipelined({ port, request, times, connections, depth }: Pipelined): Promise<string> {
  const requests = Buffer.from(request.repeat(depth))
  let left = times
  let answer: Buffer | undefined
  const connection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
      let missing = 0
      /** Bytes of the answer that is arriving. */
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

/** An answer without a body, at the beginning of what a server sends. */
function firstAnswer(chunk: Buffer): Buffer {
  const end = chunk.indexOf('\r\n\r\n')
  if (!chunk.subarray(0, 13).equals(Buffer.from('HTTP/1.1 204 ')) || end < 0) throw new Error(`not 204:\n${chunk}`)
  return chunk.subarray(0, end + 4)
}
