import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { migrate } from '../../cli/migrate/migrations.ts'
import { PlanetScaleEndpoint } from '../planetscale/endpoint.ts'
import { freePort, isFree } from '../processes/free-port.ts'
import { keepRunning } from '../processes/keep-running.ts'
import { readJsonFile, writePrivately } from '../processes/private-file.ts'
import { type DatabaseServer, startDatabaseServer } from './database-server.ts'

/** The name of the database, unless the path of MYSQL_URL names another one. */
const DATABASE = 'slotted_counter'

/** A database server, its tables, and the PlanetScale endpoint in front of it. */
export interface LocalDatabase {
  server: DatabaseServer
  endpoint: PlanetScaleEndpoint
  /** The Worker's DATABASE_URL. It stays the same from start to start as long as its port is free. */
  databaseUrl: string
  stop(): Promise<void>
}

/** How to start. */
export interface LocalDatabaseOptions {
  stateDirectory: string
  /** A server to use instead of a private one: `mysql://USER:PASSWORD@HOST:PORT[/DATABASE]`. */
  mysqlUrl?: string | undefined
  say: (line: string, level?: 'error') => void
}

/** Starts the database, applies pending migrations and opens the endpoint. @throws {Error} with advice. Nothing is left running then. */
export async function startLocalDatabase({
  stateDirectory,
  mysqlUrl,
  say,
}: LocalDatabaseOptions): Promise<LocalDatabase> {
  const database =
    (mysqlUrl && URL.canParse(mysqlUrl) && decodeURIComponent(new URL(mysqlUrl).pathname.slice(1))) || DATABASE
  const directory = join(stateDirectory, 'database')
  const start = (port?: number) => startDatabaseServer({ directory, mysqlUrl, port, say })
  let server = await start()
  try {
    const connection = await mysql.createConnection({ uri: server.url })
    // A user of one database may not create it.
    await connection
      .query('USE ??', [database])
      .catch(() => connection.query('CREATE DATABASE IF NOT EXISTS ??', [database]))
    await connection.end()
    const { port, password } = await endpointSettings(stateDirectory)
    const endpoint = new PlanetScaleEndpoint({ mysqlUrl: server.url, port, password })
    await endpoint.listen()
    try {
      const databaseUrl = endpoint.urlOf(database)
      const applied = await migrate({ databaseUrl })
      if (applied.length > 0) say(`Applied ${applied.length} migrations.`)
      const stopped = new AbortController()
      const serverPort = Number(new URL(server.url).port)
      // While it is restarted, the Worker answers 503.
      const kept = keepRunning({
        name: 'The database',
        ended: () => server.ended,
        restart: async () => {
          server = await start(serverPort)
        },
        signal: stopped.signal,
        say,
      })
      return {
        server,
        endpoint,
        databaseUrl,
        async stop() {
          stopped.abort()
          await endpoint.close()
          // A server that is being restarted can be stopped only when it is up.
          await kept
          await server.stop()
        },
      }
    } catch (error) {
      await endpoint.close()
      throw error
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function endpointSettings(stateDirectory: string): Promise<{ port: number; password: string }> {
  const file = join(stateDirectory, 'endpoint.json')
  const earlier = await readJsonFile<{ port: number; password: string }>(file)
  const port = earlier !== null && (await isFree(earlier.port)) ? earlier.port : await freePort()
  const settings = { port, password: earlier?.password ?? randomBytes(18).toString('hex') }
  await writePrivately(file, JSON.stringify(settings))
  return settings
}
