import { type DatabaseServer, startDatabaseServer } from '../../local/database/database-server.ts'
import { BenchServer } from './measured-database.ts'
import type { Testbed } from './shared-testbed.ts'

/** A database server that belongs to one measurement and may be killed. */
export class KillableDatabase {
  readonly server: BenchServer
  readonly #directory: string
  #process: DatabaseServer

  private constructor(server: BenchServer, directory: string, process: DatabaseServer) {
    this.server = server
    this.#directory = directory
    this.#process = process
  }

  static async start(testbed: Testbed): Promise<KillableDatabase> {
    const directory = await testbed.newDirectory()
    const server = await startDatabaseServer({ directory, say: () => {} })
    return new KillableDatabase(new BenchServer(server), directory, server)
  }

  /** The id of the server's process. */
  pid(): number {
    return this.#process.process!.pid
  }

  /** Ends the server with SIGKILL, and starts it again on the same data. */
  async killAndRestart(): Promise<void> {
    await this.#process.process!.kill()
    const port = Number(new URL(this.#process.url).port)
    this.#process = await startDatabaseServer({ directory: this.#directory, port, say: () => {} })
  }

  async stop(): Promise<void> {
    await this.server.stop((work) => work.catch(() => {}))
    await this.#process.stop()
  }
}
