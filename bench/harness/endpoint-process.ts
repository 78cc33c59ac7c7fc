import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Behaviour } from '../../local/planetscale/fault-injection.ts'
import { killProcess, nextMessage } from './child-messages.ts'

const PASSWORD = 'bench'

/** The local PlanetScale endpoint, in a separate process. */
export class EndpointProcess {
  readonly #child: ChildProcess
  readonly #port: number

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.#port = port
  }

  /**
   * @param port to listen on, on loopback
   * @param mysqlUrl the server whose databases it serves
   * @throws {Error} if it does not start
   */
  static async start(port: number, mysqlUrl: string): Promise<EndpointProcess> {
    // Detached, so that Ctrl-C in the terminal does not reach it. It exits when the channel to its parent closes.
    const child = fork(join(import.meta.dirname, 'endpoint-child.ts'), [String(port), PASSWORD], {
      detached: true,
      env: { ...process.env, MYSQL_URL: mysqlUrl },
    })
    await nextMessage<'listening'>(child, 'The endpoint')
    return new EndpointProcess(child, port)
  }

  /** The DATABASE_URL of a database behind the endpoint on a port, which need not be listening yet. */
  static urlOf(database: string, port: number): string {
    return `http://${database}:${PASSWORD}@127.0.0.1:${port}`
  }

  /** The number of statements received so far, and how many of them are running or wait for a connection. */
  async statements(): Promise<{ statements: number; running: number }> {
    const counts = nextMessage<{ statements: number; running: number }>(this.#child, 'The endpoint')
    this.#child.send({})
    return counts
  }

  /** How long each statement since the last call took, in milliseconds: from its request to the answer. */
  async durations(): Promise<number[]> {
    const report = nextMessage<{ durationsMs: number[] }>(this.#child, 'The endpoint')
    this.#child.send({ durations: true })
    return (await report).durationsMs
  }

  /** Sets latency and faults for one database. */
  async behave(database: string, behaviour: Partial<Behaviour>): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/local/behaviour`, {
      method: 'PUT',
      headers: { Authorization: `Basic ${btoa(`${database}:${PASSWORD}`)}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(behaviour),
    })
    if (!response.ok) throw new Error(`The endpoint rejected a behaviour: ${await response.text()}`)
  }

  async stop(): Promise<void> {
    await killProcess(this.#child)
  }
}
