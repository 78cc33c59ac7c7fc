import { connect } from 'node:net'

/** Milliseconds without a byte after which a request counts as not answered. */
const SILENCE_MS = 60_000

/** The beginning of what came back. */
export interface RawAnswer {
  /** `null` if the server closed the connection without an answer. */
  status: number | null
  /** The head of the response, in lower case. */
  head: string
}

/** Bytes to send over a connection of their own, as no HTTP client would. */
export interface RawRequest {
  bytes: Buffer
  /** Whether the first 200 bytes go out one by one. */
  isSlow?: boolean
  /** Whether the client ends its side after the bytes. */
  isCutShort?: boolean
}

/** @throws {Error} if the server keeps silent for a minute */
export function sendRaw(port: number, { bytes, isSlow = false, isCutShort = false }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let answer = ''
    socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error(`no answer to ${bytes.toString('latin1', 0, 300)}`)))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      if (answer.includes('\r\n\r\n')) socket.destroy()
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // The server may close the connection before it has read everything.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.once('close', () => resolve(parse(answer)))
    const sendRest = (rest: Buffer) => void (isCutShort ? socket.end(rest) : socket.write(rest))
    if (!isSlow) return sendRest(bytes)
    let sent = 0
    const next = () => {
      if (socket.destroyed) return
      if (sent === 200) sendRest(bytes.subarray(sent))
      else socket.write(bytes.subarray(sent, ++sent), () => setImmediate(next))
    }
    next()
  })
}

function parse(answer: string): RawAnswer {
  const head = answer.slice(0, answer.indexOf('\r\n\r\n')).toLowerCase()
  const [, status] = /^http\/1\.1 (\d{3}) /.exec(head) ?? []
  return { status: status === undefined ? null : Number(status), head }
}
