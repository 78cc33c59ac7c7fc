import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const FIRST = 20_000
const LAST = 32_767

/** Ports that were returned recently, the oldest first. Their callers may not listen on them yet. */
const recent = new Set<number>()
const MAX_RECENT = 100

/** Whether a port of 127.0.0.1, 1 to 65535, is free. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/**
 * Finds a free port on 127.0.0.1. It lies outside the range from which systems take the ports of outgoing connections (32768
 * and up on Linux, 49152 and up by RFC 6335, section 6), so it is likely to stay free until the caller listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1)
    if (recent.has(port) || !(await isFree(port)) || recent.has(port)) continue
    for (const oldest of recent) if (recent.size >= MAX_RECENT) recent.delete(oldest)
    recent.add(port)
    return port
  }
}
