import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { type DatabaseServer, startDatabaseServer } from './database-server.ts'
import { freePort, isFree } from './free-port.ts'
import { migrate } from './migrations.ts'
import { PlanetScaleEndpoint } from './planetscale/endpoint.ts'

/** The database of `npm start`, unless MYSQL_URL names another one in its path. */
const DATABASE = 'slotted_counter'

/** A database server, its tables, and the PlanetScale endpoint in front of it. */
export interface LocalDatabase {
  server: DatabaseServer
  endpoint: PlanetScaleEndpoint
  /** For the Worker: stays the same from start to start while its port is free. */
  databaseUrl: string
  stop(): Promise<void>
}

/** How to start. */
export interface LocalDatabaseOptions {
  stateDirectory: string
  /** `mysql://USER:PASSWORD@HOST:PORT[/DATABASE]` of a server to use instead of a private one. */
  mysqlUrl?: string | undefined
  say: (line: string) => void
}

/**
 * Starts the database of `npm start`, brings its tables up to date and opens the endpoint.
 *
 * @throws {Error} that says what to do; nothing is left running then
 */
export async function startLocalDatabase({
  stateDirectory,
  mysqlUrl,
  say,
}: LocalDatabaseOptions): Promise<LocalDatabase> {
  const database = (mysqlUrl && decodeURIComponent(new URL(mysqlUrl).pathname.slice(1))) || DATABASE
  const server = await startDatabaseServer({ directory: join(stateDirectory, 'database'), mysqlUrl, say })
  try {
    const connection = await mysql.createConnection({ uri: server.url })
    await connection.query('CREATE DATABASE IF NOT EXISTS ??', [database])
    await connection.end()
    const { port, password } = await endpointSettings(stateDirectory)
    const endpoint = new PlanetScaleEndpoint({ mysqlUrl: server.url, port, password })
    await endpoint.listen()
    try {
      const databaseUrl = endpoint.urlOf(database)
      const applied = await migrate({ databaseUrl, say: () => {} })
      if (applied.length > 0) say(`Applied ${applied.length} migrations.`)
      return {
        server,
        endpoint,
        databaseUrl,
        async stop() {
          await endpoint.close()
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
  const text = await readFile(file, 'utf8').catch(() => null)
  const earlier = text === null ? null : (JSON.parse(text) as { port: number; password: string })
  const port = earlier !== null && (await isFree(earlier.port)) ? earlier.port : await freePort()
  const settings = { port, password: earlier?.password ?? randomBytes(18).toString('hex') }
  await writeFile(file, JSON.stringify(settings), { mode: 0o600 })
  return settings
}
