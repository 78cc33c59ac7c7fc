import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { migrate } from '../../cli/migrate/migrations.ts'
import { PlanetScaleEndpoint } from '../planetscale/endpoint.ts'
import { freePort, isFree } from '../processes/free-port.ts'
import { type DatabaseServer, startDatabaseServer } from './database-server.ts'

/** The name of the database, unless the path of MYSQL_URL names another one. */
const DATABASE = 'slotted_counter'

/** Pause before a restart, so that a server that fails immediately does not keep the machine busy. */
const RESTART_PAUSE_MS = 5_000
const MAX_RESTARTS = 10

/** A database server, its tables, and the PlanetScale endpoint in front of it. */
export interface LocalDatabase {
  server: DatabaseServer
  endpoint: PlanetScaleEndpoint
  /** The Worker's DATABASE_URL. It stays the same from start to start as long as its port is free. */
  databaseUrl: string
  /** Resolves with the reason if the server failed and could not be restarted. */
  failed: Promise<Error>
  stop(): Promise<void>
}

/** How to start. */
export interface LocalDatabaseOptions {
  stateDirectory: string
  /** A server to use instead of a private one: `mysql://USER:PASSWORD@HOST:PORT[/DATABASE]`. */
  mysqlUrl?: string | undefined
  say: (line: string) => void
}

/**
 * Starts the database of `npm start`, applies pending migrations and opens the endpoint.
 *
 * @throws {Error} if that fails, with advice. Nothing is left running then.
 */
export async function startLocalDatabase({
  stateDirectory,
  mysqlUrl,
  say,
}: LocalDatabaseOptions): Promise<LocalDatabase> {
  const database =
    (mysqlUrl && URL.canParse(mysqlUrl) && decodeURIComponent(new URL(mysqlUrl).pathname.slice(1))) || DATABASE
  const start = () => startDatabaseServer({ directory: join(stateDirectory, 'database'), mysqlUrl, say })
  const server = await start()
  try {
    const connection = await mysql.createConnection({ uri: server.url })
    await connection.query('CREATE DATABASE IF NOT EXISTS ??', [database])
    await connection.end()
    const { port, password } = await endpointSettings(stateDirectory)
    const endpoint = new PlanetScaleEndpoint({ mysqlUrl: server.url, port, password })
    await endpoint.listen()
    try {
      const databaseUrl = endpoint.urlOf(database)
      const applied = await migrate({ databaseUrl })
      if (applied.length > 0) say(`Applied ${applied.length} migrations.`)
      const { failed, stop } = keepRunning(server, start, say)
      return {
        server,
        endpoint,
        databaseUrl,
        failed,
        async stop() {
          await endpoint.close()
          await stop()
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

/** Restarts the server when it ends without being stopped. In between, the Worker answers 503. */
function keepRunning(
  first: DatabaseServer,
  start: () => Promise<DatabaseServer>,
  say: (line: string) => void,
): { failed: Promise<Error>; stop(): Promise<void> } {
  const stopped = new AbortController()
  let server = first
  let restarting: Promise<void> | undefined
  const watch = async (): Promise<Error> => {
    for (let restarts = 0; restarts < MAX_RESTARTS; restarts++) {
      const code = await server.ended
      say(`The database ended unexpectedly, with exit code ${code}. Restarting it …`)
      restarting = setTimeout(RESTART_PAUSE_MS, undefined, { signal: stopped.signal }).then(async () => {
        server = await start()
      })
      await restarting
      if (server.url !== first.url)
        return new Error('The database restarted on another port, because its own port was in use.')
      say('The database is running again.')
    }
    return new Error(`The database ended unexpectedly more than ${MAX_RESTARTS} times.`)
  }
  const failed = watch().catch((error: Error) => error)
  return {
    failed: failed.then((error) => (stopped.signal.aborted ? new Promise<Error>(() => {}) : error)),
    async stop() {
      stopped.abort()
      // A server that is being restarted can be stopped only when it is up.
      await restarting?.catch(() => {})
      await server.stop()
    },
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
