import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { startDatabaseServer } from '../../local/database/database-server.ts'
import { PROJECT } from '../../local/project-root.ts'

/** Where Linux has a file system in memory, its type, and the bytes that must be free in it. */
const MEMORY = '/dev/shm'
const TMPFS = 0x01021994
const LEAST_MEMORY = 2 ** 30

type Served = Pick<ProvidedContext, 'databases' | 'onVitess' | 'ranges'> & { description: string }

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
  const mysqlUrl = VITESS_URL ?? MYSQL_URL
  const server = await startDatabaseServer({ directory: join(directory, 'database'), mysqlUrl, say: console.log })
  // Databases on a private server are deleted with its folder.
  const keep = (mysqlUrl ?? '') === '' || process.env.KEEP_DATABASES === '1'
  // Detached, so that Ctrl-C in the terminal does not reach it.
  const program = join(import.meta.dirname, 'databases/serve-databases.ts')
  const env = { ...process.env, DATABASE_SERVER: server.url }
  const databases = fork(program, [server.description, String(keep)], { detached: true, env })
  const exit = once(databases, 'exit').then(([code]) => Number(code ?? 1))
  const opened = once(databases, 'message').then(([message]) => message as Served)
  const served = await Promise.race([opened, exit])
  if (typeof served === 'number') throw withoutStack('The databases of the tests could not be opened. See above.')
  if (VITESS_URL !== undefined && !served.onVitess) {
    databases.disconnect()
    throw withoutStack(NO_VITESS)
  }
  console.log(`Testing on ${served.description}`)

  project.provide('databases', served.databases)
  project.provide('mysqlUrl', server.url)
  project.provide('backendUrl', (served.onVitess && VITESS_MYSQL_URL) || server.url)
  project.provide('onVitess', served.onVitess)
  project.provide('ranges', served.ranges)
  project.provide('scratch', directory)
  const memory = await folderInMemory()
  project.provide('memory', memory)

  const tearDown = async () => {
    if (databases.connected) databases.send('close')
    const code = await exit
    await server.stop()
    for (const folder of memory === null ? [directory] : [directory, memory]) {
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 })
    }
    if (code !== 0) throw withoutStack('The process that served the databases failed. See above.')
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
