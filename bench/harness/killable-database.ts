import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  async pid(): Promise<number> {
    const record = await readFile(join(this.#directory, 'database.pid.json'), 'utf8')
    return (JSON.parse(record) as { pid: number }).pid
  }

  /** Ends the server with SIGKILL, and starts it again on the same data. */
  async killAndRestart(): Promise<void> {
    process.kill(await this.pid(), 'SIGKILL')
    await this.#process.ended
    const { url } = this.#process
    this.#process = await startDatabaseServer({ directory: this.#directory, say: () => {} })
    if (this.#process.url !== url) throw new Error('The database restarted on another port because its own was taken.')
  }

  async stop(): Promise<void> {
    await this.server.stop((work) => work.catch(() => {}))
    await this.#process.stop()
  }
}
