import { startDatabaseServer } from '../../local/database/database-server.ts'
import { freePort } from '../../local/processes/free-port.ts'
import { KillableProcess } from './killable-process.ts'
import { BenchServer } from './measured-database.ts'
import type { Testbed } from './shared-testbed.ts'

/** A database server that belongs to one measurement and may be killed. */
export class KillableDatabase {
  readonly server: BenchServer
  readonly process: KillableProcess

  private constructor(server: BenchServer, process: KillableProcess) {
    this.server = server
    this.process = process
  }

  static async start(testbed: Testbed): Promise<KillableDatabase> {
    const options = { directory: await testbed.newDirectory(), port: await freePort(), say: () => {} }
    const server = await startDatabaseServer(options)
    const launch = async () => (await startDatabaseServer(options)).process!
    return new KillableDatabase(new BenchServer(server), new KillableProcess(launch, server.process!))
  }

  async stop(): Promise<void> {
    await this.server.stop((work) => work.catch(() => {}))
    await this.process.stop()
  }
}
