import { execFile } from 'node:child_process'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { startDatabaseServer } from '../../local/database/database-server.ts'
import { PROJECT } from '../../local/project-root.ts'
import { CreatedDatabases } from './databases/created-databases.ts'
import { KeyspacePool } from './databases/keyspace-pool.ts'

/** Where Linux has a file system in memory, its type, and the bytes that must be free in it. */
const MEMORY = '/dev/shm'
const TMPFS = 0x01021994
const LEAST_MEMORY = 2 ** 30

/**
 * Runs `npm run build`. Starts a temporary database server, or uses that of MYSQL_URL. Provides databases on it, through the endpoint.
 *
 * `KEEP_DATABASES=1` does not drop them on the server of MYSQL_URL. `.ci/run` sets it, because it deletes its server afterwards.
 *
 * @throws {Error} if VITESS_URL is set, even to nothing, but names no vtgate
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { VITESS_URL, VITESS_MYSQL_URL, MYSQL_URL } = process.env
  if (VITESS_URL === '') throw withoutStack(NO_VITESS)
  await promisify(execFile)(process.execPath, [join(PROJECT, 'scripts/build.ts')])
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-test-'))
  const say = (line: string) => console.log(line)
  const server = await startDatabaseServer({
    directory: join(directory, 'database'),
    mysqlUrl: VITESS_URL ?? MYSQL_URL,
    say,
  })
  const keyspaces = await KeyspacePool.open(server.url)
  if (VITESS_URL !== undefined && keyspaces === null) throw withoutStack(NO_VITESS)
  // Databases on a private server are deleted with its folder.
  const keep = (VITESS_URL ?? MYSQL_URL ?? '') === '' || process.env.KEEP_DATABASES === '1'
  const databases = keyspaces ?? (await CreatedDatabases.open(server.url, server.description, { keep }))
  say(`Testing on ${databases.description}`)

  const control = createServer(async (request, response) => {
    try {
      const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
      if (request.method === 'DELETE') await databases.giveBack(decodeURIComponent(pathname.slice(1)))
      const taken = request.method === 'POST' && (await databases.take({ migrated: searchParams.has('migrate') }))
      response.end(JSON.stringify(taken))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  // As in the endpoint: a test file that is kept waiting for seconds would reuse a connection that has been closed.
  control.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))

  project.provide('databases', `http://127.0.0.1:${(control.address() as AddressInfo).port}/`)
  project.provide('mysqlUrl', server.url)
  project.provide('backendUrl', (keyspaces !== null && VITESS_MYSQL_URL) || server.url)
  project.provide('onVitess', keyspaces !== null)
  project.provide('ranges', databases.ranges)
  project.provide('scratch', directory)
  const memory = await folderInMemory()
  project.provide('memory', memory)

  const tearDown = async () => {
    control.closeAllConnections()
    control.close()
    await databases.close()
    await server.stop()
    for (const folder of memory === null ? [directory] : [directory, memory]) {
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 })
    }
  }
  // An interrupted runner would end within a millisecond, without its teardown.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(signal).once(signal, () => void tearDown().finally(() => process.exit(130)))
  }
  return tearDown
}

/** Makes a folder on a tmpfs, or returns null if this machine has none with enough space. */
async function folderInMemory(): Promise<string | null> {
  const found = await statfs(MEMORY).catch(() => null)
  if (found === null || found.type !== TMPFS || found.bavail * found.bsize < LEAST_MEMORY) return null
  return mkdtemp(join(MEMORY, 'slotted-counter-test-')).catch(() => null)
}

/** An error of which vitest prints only the message. */
function withoutStack(message: string): Error {
  return Object.assign(new Error(message), { stack: '' })
}

const NO_VITESS =
  'Set VITESS_URL=mysql://USER:PASSWORD@HOST:PORT to the MySQL port of a vtgate with about 16 keyspaces for the tests alone. ' +
  'All must have the same number of shards and, if that is not 1, the VSchema of migrations/vschema.json. ' +
  'Another one, slotted-counter, must have one shard. ' +
  'The image vitess/vttestserver is such a server.'
