import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Sends requests without a body over one connection, each after the response to the one before.
 *
 * @param next the first line of the next request, and headers after it if there are any; `null` for no more
 * @param heard called with the `X-Hit` of each response
 * @param pauseMs milliseconds to wait after each response
 */
export async function inTurn(
  port: number,
  next: () => string | null,
  heard: (said: string) => void,
  pauseMs = 0,
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let text = ''
  const sendNext = () => {
    const head = next()
    if (head === null) socket.end()
    else socket.write(`${head}\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`)
  }
  sendNext()
  for await (const chunk of socket) {
    text += String(chunk)
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) continue
    heard(/^x-hit: (.*)$/im.exec(text.slice(0, end))?.[1] ?? text.slice(0, end))
    text = text.slice(end + 4)
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    sendNext()
  }
}
