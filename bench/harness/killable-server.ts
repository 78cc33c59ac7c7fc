import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DatabaseServer, startDatabaseServer } from '../../local/database-server.ts'
import type { Rig } from './rig.ts'
import { BenchServer } from './server.ts'

/** A database server of one measurement's own, which may be killed. */
export class KillableServer {
  readonly server: BenchServer
  readonly #directory: string
  #process: DatabaseServer

  private constructor(server: BenchServer, directory: string, process: DatabaseServer) {
    this.server = server
    this.#directory = directory
    this.#process = process
  }

  static async start(rig: Rig): Promise<KillableServer> {
    const directory = await rig.newDirectory()
    const server = await startDatabaseServer({ directory, say: () => {} })
    return new KillableServer(new BenchServer(server), directory, server)
  }

  /** Ends it as kill -9 does, and starts it again on the data that it left. */
  async killAndRestart(): Promise<void> {
    const record = await readFile(join(this.#directory, 'database.pid.json'), 'utf8')
    process.kill((JSON.parse(record) as { pid: number }).pid, 'SIGKILL')
    await this.#process.ended
    const { url } = this.#process
    this.#process = await startDatabaseServer({ directory: this.#directory, say: () => {} })
    if (this.#process.url !== url) throw new Error('The database came back elsewhere, because its port was taken.')
  }

  async stop(): Promise<void> {
    await this.server.stop((work) => work.catch(() => {}))
    await this.#process.stop()
  }
}
