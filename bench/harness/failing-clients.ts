import { Agent, request } from 'node:http'

const ATTEMPT_MS = 5_000

/** What to send until a failure, and how. */
export interface FailingClients {
  url: string
  method: 'GET' | 'POST'
  body: string
  headers: Record<string, string>
  /** Number of clients. Each sends one hit after the other. */
  number: number
  signal: AbortSignal
}

/** Sends hits until each client has met a failure, and retries none. Returns how many were acknowledged. */
export async function hitUntilFailure({ url, method, body, headers, number, signal }: FailingClients): Promise<number> {
  let acknowledged = 0
  const agent = new Agent({ keepAlive: true })
  const clients = Array.from({ length: number }, async () => {
    while (await attempt(agent, url, body, headers, method)) {
      signal.throwIfAborted()
      acknowledged++
    }
  })
  await Promise.all(clients).finally(() => agent.destroy())
  return acknowledged
}

/** Sends a hit once; true if it was acknowledged. */
function attempt(
  agent: Agent,
  url: string,
  body: string,
  headers: Record<string, string>,
  method = 'POST',
): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(url, {
      method,
      agent,
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      timeout: ATTEMPT_MS,
    })
    sent.once('timeout', () => sent.destroy())
    sent.once('error', () => resolve(false))
    sent.once('response', (response) => {
      const { statusCode = 500 } = response
      response.resume()
      response.once('error', () => resolve(false))
      response.once('end', () => resolve(statusCode < 300))
    })
    sent.end(body)
  })
}
