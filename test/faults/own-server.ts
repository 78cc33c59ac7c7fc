import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { inject, onTestFinished } from 'vitest'
import { type DatabaseServer, startDatabaseServer } from '../../local/database-server.ts'
import { migrate } from '../../local/migrations.ts'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'
import { databaseAt, type FaultyDatabase } from './database.ts'

/** A database server of one test's own, which may be killed, and the endpoint in front of it, which stays. */
export class OwnServer {
  readonly db: FaultyDatabase
  readonly #directory: string
  #server: DatabaseServer

  private constructor(db: FaultyDatabase, directory: string, server: DatabaseServer) {
    this.db = db
    this.#directory = directory
    this.#server = server
  }

  /** Starts one with a database in it. Both end with the test. */
  static async start(): Promise<OwnServer> {
    const directory = join(inject('scratch'), `own-server-${randomUUID()}`)
    const server = await startDatabaseServer({ directory, say: console.log })
    const endpoint = new PlanetScaleEndpoint({ mysqlUrl: server.url, password: 'test' })
    await endpoint.listen()
    const name = 'own'
    const own = new OwnServer(databaseAt(name, endpoint.urlOf(name), server.url), directory, server)
    onTestFinished(async () => {
      await endpoint.close()
      await own.#server.stop()
    })
    const connection = await mysql.createConnection({ uri: server.url })
    await connection.query('CREATE DATABASE ??', [name])
    await connection.end()
    await migrate({ databaseUrl: own.db.url, say: () => {} })
    return own
  }

  /** Ends it as kill -9 does, in the middle of whatever it is doing. */
  async kill(): Promise<void> {
    const record = await readFile(join(this.#directory, 'database.pid.json'), 'utf8')
    process.kill((JSON.parse(record) as { pid: number }).pid, 'SIGKILL')
    await this.#server.ended
  }

  /** Starts it again on the data that it left. */
  async startAgain(): Promise<void> {
    const { url } = this.#server
    this.#server = await startDatabaseServer({ directory: this.#directory, say: console.log })
    if (this.#server.url !== url) throw new Error('the server came back elsewhere, because its port was taken')
  }
}
