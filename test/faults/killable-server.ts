import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { inject, onTestFinished } from 'vitest'
import { migrate } from '../../cli/migrate/migrations.ts'
import { type DatabaseServer, startDatabaseServer } from '../../local/database/database-server.ts'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'
import { databaseAt, type FaultyDatabase } from './faulty-database.ts'

/** A folder in memory, if there is one. kill -9 ends a process but loses no file, so what survives is the same on a disk. */
const MEMORY = inject('memory')

/**
 * Lets a test start over with an empty server, if its server did not recover because its data is damaged: nothing can be learned
 * about counts then. Only where the data is on a disk: there it happened 9 times in 2,250 kills, on MariaDB 10.11.19 and MySQL
 * 9.7.4, and in memory never in 756.
 */
export const STARTS_OVER =
  MEMORY === null ? { count: 2, condition: /did not recover.*InnoDB.*(Assertion failure|corrupt)/s } : 0

/** A database server for one test, which may kill it. The endpoint in front of it stays. */
export class KillableServer {
  readonly db: FaultyDatabase
  readonly #directory: string
  #server: DatabaseServer

  private constructor(db: FaultyDatabase, directory: string, server: DatabaseServer) {
    this.db = db
    this.#directory = directory
    this.#server = server
  }

  /** Starts a server with one database. It stops when the test ends. */
  static async start(): Promise<KillableServer> {
    const directory = join(MEMORY ?? inject('scratch'), `killable-server-${randomUUID()}`)
    const server = await startDatabaseServer({ directory, say: console.log })
    const endpoint = new PlanetScaleEndpoint({ mysqlUrl: server.url, password: 'test' })
    await endpoint.listen()
    const name = 'killable'
    const killable = new KillableServer(databaseAt(name, endpoint.urlOf(name), server.url), directory, server)
    onTestFinished(async () => {
      await endpoint.close()
      await killable.#server.stop()
      await rm(directory, { recursive: true, force: true })
    })
    const connection = await mysql.createConnection({ uri: server.url })
    await connection.query('CREATE DATABASE ??', [name])
    await connection.end()
    await migrate({ databaseUrl: killable.db.url })
    return killable
  }

  /** Ends the server with kill -9. */
  async kill(): Promise<void> {
    await this.#server.process!.kill()
  }

  /**
   * Starts the server again on its data.
   *
   * @throws {Error} with the errors in the server's log, if that fails
   */
  async restart(): Promise<void> {
    const port = Number(new URL(this.#server.url).port)
    const options = { directory: this.#directory, port, say: console.log }
    this.#server = await startDatabaseServer(options).catch((error: Error) => {
      throw new Error(`the server did not recover: ${error.message}`)
    })
  }
}
