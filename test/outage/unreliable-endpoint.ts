import { createServer, type Server, type Socket } from 'node:net'
import type { Behaviour, Fault } from '../../local/planetscale/behaviour.ts'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'

const PASSWORD = 'test'
/** Below the ports that systems give to outgoing connections, one of which could take ours while it is closed. */
const FIRST_PORT = 20_000
const PORTS = 10_000

/** The way to a database that can go, be gone in two ways, and come back at the same address. */
export class UnreliableEndpoint {
  readonly port: number
  readonly #mysqlUrl: string
  #open: { close(): Promise<void> }

  private constructor(mysqlUrl: string, port: number, open: { close(): Promise<void> }) {
    this.#mysqlUrl = mysqlUrl
    this.port = port
    this.#open = open
  }

  /** Opens one in front of a server. */
  static async open(mysqlUrl: string): Promise<UnreliableEndpoint> {
    for (let port = FIRST_PORT + (process.pid % PORTS); ; port = FIRST_PORT + ((port + 1) % PORTS)) {
      const endpoint = await serve(mysqlUrl, port).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error
        return null
      })
      if (endpoint !== null) return new UnreliableEndpoint(mysqlUrl, port, endpoint)
    }
  }

  urlOf(database: string): string {
    return `http://${encodeURIComponent(database)}:${PASSWORD}@127.0.0.1:${this.port}`
  }

  /** Going: increments of one database are taken, and the connection is cut before anybody is told. */
  async loseAnswers(database: string): Promise<void> {
    const faults: Fault[] = [{ action: 'cut-answer', match: 'INSERT INTO slotted_counters', times: 1_000_000 }]
    const { username, password, origin } = new URL(this.urlOf(database))
    const response = await fetch(`${origin}/local/behaviour`, {
      method: 'PUT',
      headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}` },
      body: JSON.stringify({ faults } satisfies Partial<Behaviour>),
    })
    if (!response.ok) throw new Error(await response.text())
  }

  /** Gone: connections are cut, and no new ones are accepted. */
  async refuse(): Promise<void> {
    await this.#open.close()
    this.#open = { close: async () => {} }
  }

  /** Gone: connections are accepted, and nothing is ever answered. */
  async swallow(): Promise<void> {
    await this.refuse()
    this.#open = await blackHole(this.port)
  }

  /** Back. */
  async answer(): Promise<void> {
    await this.refuse()
    this.#open = await serve(this.#mysqlUrl, this.port)
  }

  async close(): Promise<void> {
    await this.refuse()
  }
}

async function serve(mysqlUrl: string, port: number): Promise<PlanetScaleEndpoint> {
  const endpoint = new PlanetScaleEndpoint({ mysqlUrl, password: PASSWORD, port })
  await endpoint.listen()
  return endpoint
}

async function blackHole(port: number): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.resume()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
