import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const FIRST = 20_000
const LAST = 32_767

/** Those told of late, the oldest first: whoever asked for one may not listen on it yet. */
const told = new Set<number>()
const MAX_TOLD = 100

/**
 * Whether a port on 127.0.0.1 can be listened on.
 *
 * @param port 1 to 65535
 */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/**
 * A port on 127.0.0.1 that is free now, and likely to stay so until it is listened on: outside of the range from which
 * systems take the ports of connections that are opened (32768 and up on Linux, 49152 and up by RFC 6335, section 6).
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1)
    if (told.has(port) || !(await isFree(port)) || told.has(port)) continue
    for (const oldest of told) if (told.size >= MAX_TOLD) told.delete(oldest)
    told.add(port)
    return port
  }
}
