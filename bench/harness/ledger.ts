import { Agent, request } from 'node:http'

/** What clients were told, by hit. */
export interface Ledger {
  /** Hits that were acknowledged in the end. */
  told: number
  /** Hits of which the client gave up to hear anything good. */
  untold: number
}

const ATTEMPT_MS = 5_000
const PAUSE_MS = 100
/** Long enough for a database to be killed and to come back. */
const PATIENCE_MS = 20_000

/** What to send, and how. */
export interface Clients {
  url: string
  body: string
  /** Clients that each send one hit after the other. */
  number: number
  headersOf(hit: string): Record<string, string>
  over(): boolean
  signal: AbortSignal
}

/** Sends hits until it is over, each again until it is acknowledged or patience ends, as careful clients do. */
export async function keepLedger({ url, body, number, headersOf, over, signal }: Clients): Promise<Ledger> {
  const ledger: Ledger = { told: 0, untold: 0 }
  const agent = new Agent({ keepAlive: true })
  const clients = Array.from({ length: number }, async (_, client) => {
    for (let hit = 0; !over(); hit++) {
      const headers = headersOf(`bench-${client}-${hit}`)
      const until = Date.now() + PATIENCE_MS
      let told = false
      while (!told && Date.now() < until) {
        signal.throwIfAborted()
        told = await attempt(agent, url, body, headers)
        if (!told) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
      if (told) ledger.told++
      else ledger.untold++
    }
  })
  try {
    await Promise.all(clients)
    return ledger
  } finally {
    agent.destroy()
  }
}

/** Whether an attempt was acknowledged. */
function attempt(agent: Agent, url: string, body: string, headers: Record<string, string>): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(url, {
      method: 'POST',
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
