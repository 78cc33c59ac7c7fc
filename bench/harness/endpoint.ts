import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Behaviour } from '../../local/planetscale/behaviour.ts'
import type { IsolationLevel } from '../../local/planetscale/branch.ts'
import { end, heard } from './child.ts'

const PASSWORD = 'bench'

/** The local PlanetScale endpoint, in a process of its own. */
export class EndpointProcess {
  readonly #child: ChildProcess
  readonly #port: number

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.#port = port
  }

  /**
   * @param port where it is to listen, on loopback
   * @param mysqlUrl the server whose databases it serves
   * @param isolation of its connections; default: the server's
   * @throws {Error} if it does not come up
   */
  static async start(port: number, mysqlUrl: string, isolation?: IsolationLevel): Promise<EndpointProcess> {
    // Detached, so that Ctrl-C in the terminal does not reach it: it ends when the channel to its parent does.
    const child = fork(
      join(import.meta.dirname, 'endpoint-process.ts'),
      [String(port), PASSWORD, ...(isolation ? [isolation] : [])],
      {
        detached: true,
        env: { ...process.env, MYSQL_URL: mysqlUrl },
      },
    )
    await heard<'listening'>(child, 'The endpoint')
    return new EndpointProcess(child, port)
  }

  /** The DATABASE_URL that opens a database at the endpoint that listens on a port, or will. */
  static urlOf(database: string, port: number): string {
    return `http://${database}:${PASSWORD}@127.0.0.1:${port}`
  }

  /** Statements that it was sent so far, and those of them that are running or wait for a connection. */
  async statements(): Promise<{ statements: number; running: number }> {
    const answer = heard<{ statements: number; running: number }>(this.#child, 'The endpoint')
    this.#child.send({})
    return answer
  }

  /** Makes it slow for one database. */
  async behave(database: string, behaviour: Partial<Behaviour>): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/local/behaviour`, {
      method: 'PUT',
      headers: { Authorization: `Basic ${btoa(`${database}:${PASSWORD}`)}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(behaviour),
    })
    if (!response.ok) throw new Error(`The endpoint refused a behaviour: ${await response.text()}`)
  }

  /** Ends it, whatever it is doing. */
  async stop(): Promise<void> {
    await end(this.#child)
  }
}
