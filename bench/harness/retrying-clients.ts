import { Agent, request } from 'node:http'

/** How the hits of all clients ended. */
export interface ClientResult {
  acknowledged: number
  /** Hits that a client gave up on. They may have been counted. */
  unacknowledged: number
}

const ATTEMPT_MS = 5_000
const PAUSE_MS = 100
/** Long enough for a database to be killed and to restart. */
const GIVE_UP_MS = 20_000

/** What to send, and how. */
export interface Clients {
  url: string
  body: string
  /** Number of clients. Each sends one hit after the other. */
  number: number
  headersOf(hit: string): Record<string, string>
  over(): boolean
  signal: AbortSignal
}

/** What to send until a failure, and how. */
export interface FailingClients extends Pick<Clients, 'url' | 'body' | 'number' | 'signal'> {
  method: 'GET' | 'POST'
  headers: Record<string, string>
}

/** Sends hits until `over`. Each hit is retried until it is acknowledged or the client gives up after 20 s. */
export async function runRetryingClients({
  url,
  body,
  number,
  headersOf,
  over,
  signal,
}: Clients): Promise<ClientResult> {
  const result: ClientResult = { acknowledged: 0, unacknowledged: 0 }
  const agent = new Agent({ keepAlive: true })
  const clients = Array.from({ length: number }, async (_, client) => {
    for (let hit = 0; !over(); hit++) {
      const headers = headersOf(`bench-${client}-${hit}`)
      const until = Date.now() + GIVE_UP_MS
      let acknowledged = false
      while (!acknowledged && Date.now() < until) {
        signal.throwIfAborted()
        acknowledged = await attempt(agent, url, body, headers)
        if (!acknowledged) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
      if (acknowledged) result.acknowledged++
      else result.unacknowledged++
    }
  })
  try {
    await Promise.all(clients)
    return result
  } finally {
    agent.destroy()
  }
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
