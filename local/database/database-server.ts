import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import mysql from 'mysql2/promise'
import { freePort, isFree } from '../processes/free-port.ts'
import { readJsonFile, writePrivately } from '../processes/private-file.ts'
import { endLeftover, ServerProcess } from '../processes/server-process.ts'
import { asRoot, createData, isDiskFull, lastLines, makeRoom, temporaryFolder, UNFINISHED } from './data-directory.ts'
import { type DatabaseProgram, findProgram, installProgram, isRecentEnough, NEEDED } from './database-program.ts'

/** Stopping flushes memory to the disk. */
const STOP_MS = 60_000
/** The log is put aside when it is larger at a start. */
const MAX_LOG_BYTES = 1_000_000

/** A running MySQL-family server. */
export interface DatabaseServer {
  /** `mysql://user:password@host:port` of a user with all rights. */
  url: string
  /** Product and version. */
  description: string
  process?: ServerProcess
  /** Resolves with the exit code if the server ends without being stopped. Never resolves for the server of MYSQL_URL. */
  ended: Promise<number>
  /** Stops the server, unless it is that of MYSQL_URL. */
  stop(): Promise<void>
}

/** How to start a database server. */
export interface DatabaseServerOptions {
  /** Folder for the data, the settings and the log. Created if missing. */
  directory: string
  /** A running server to use instead: MYSQL_URL. */
  mysqlUrl?: string | undefined
  /** The product to run. Default: any that is installed, preferably MySQL. */
  product?: DatabaseProgram['product']
  /** The port to use. Default: that of the start before, if it is free. */
  port?: number | undefined
  say: (line: string) => void
}

/** What later starts need to know, kept in settings.json. */
interface Settings {
  product: DatabaseProgram['product']
  password: string
  port: number
}

const USER = 'slotted_counter'
const NAMES = { mysql: 'MySQL', mariadb: 'MariaDB' }

/**
 * Starts a private server with durable settings and its own data, or connects to the server of MYSQL_URL. Installs MariaDB if
 * no server is installed.
 *
 * @throws {Error} if that fails, with advice
 */
export async function startDatabaseServer(options: DatabaseServerOptions): Promise<DatabaseServer> {
  const { mysqlUrl, say } = options
  if (mysqlUrl !== undefined && mysqlUrl !== '') {
    if (!URL.canParse(mysqlUrl) || new URL(mysqlUrl).protocol !== 'mysql:')
      throw new Error('MYSQL_URL must be of the form mysql://USER:PASSWORD@HOST:PORT[/DATABASE].')
    // The database in its path may not exist yet.
    const server = new URL(mysqlUrl)
    server.pathname = ''
    const version = await serverVersion(server.href).catch((error: Error) => {
      throw new Error(`The server of MYSQL_URL cannot be used: ${error.message}`)
    })
    const description = `${NAMES[version.product]} ${version.version} (MYSQL_URL)`
    if (!isRecentEnough(version)) throw new Error(`${NEEDED}, but this server is ${description}.`)
    return { url: server.href.replace(/\/$/, ''), description, ended: new Promise(() => {}), stop: async () => {} }
  }
  const directory = resolve(options.directory)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if (await endLeftover(directory, 'database')) say('Stopped a database that an earlier start left running.')

  const data = join(directory, 'data')
  const earlier = await readSettings(directory, data)
  let program = await findProgram(earlier?.product ?? options.product)
  if (program === null || (options.product === 'mariadb' && program.product !== 'mariadb')) {
    await installProgram(say)
    program = await findProgram(options.product)
  }
  if (program === null || program.product !== (options.product ?? program.product)) {
    throw new Error(`${options.product === 'mysql' ? 'MySQL 8.0' : 'MariaDB 10.6'} or later is not installed.`)
  }
  if (earlier !== null && earlier.product !== program.product) {
    throw new Error(
      `The data in ${directory} belongs to ${earlier.product}, which is no longer installed. ` +
        `Install it again, or move ${directory} away to start with an empty database.`,
    )
  }
  const port = options.port ?? (earlier !== null && (await isFree(earlier.port)) ? earlier.port : await freePort())
  const settings = { product: program.product, password: earlier?.password ?? randomBytes(18).toString('hex'), port }
  const created = earlier === null ? await createData(program, directory) : null
  await writePrivately(join(directory, 'settings.json'), JSON.stringify(settings))
  // Last: data without settings is refused, and so are settings without data.
  if (created !== null) await rename(created, data)
  return launch(program, directory, data, settings, say)
}

/** `null`: there is no database yet. @throws {Error} if a part of one is missing */
async function readSettings(directory: string, data: string): Promise<Settings | null> {
  const file = join(directory, 'settings.json')
  // A link counts, even if its disk is not mounted.
  const hasData = lstatSync(data, { throwIfNoEntry: false }) !== undefined
  if (!hasData && existsSync(join(directory, UNFINISHED))) await rm(file, { force: true })
  const settings = await readJsonFile<Settings>(file)
  if (hasData === (settings !== null)) return settings
  const lost = hasData ? file : data
  throw new Error(`${lost} is missing or damaged. Restore it, or move ${directory} away for an empty database.`)
}

async function launch(
  program: DatabaseProgram,
  directory: string,
  data: string,
  { password, port }: Settings,
  say: (line: string) => void,
): Promise<DatabaseServer> {
  const accounts = join(directory, 'accounts.sql')
  const user = `'${USER}'@'127.0.0.1'`
  // One statement a line, as both servers expect of an init file. root has no password, but with skip-name-resolve it can
  // only connect through the socket in the private data directory.
  await writePrivately(
    accounts,
    `CREATE USER IF NOT EXISTS ${user} IDENTIFIED BY '${password}';\n` +
      `ALTER USER ${user} IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO ${user} WITH GRANT OPTION;\n`,
  )
  const logFile = join(directory, 'server.log')
  const before = await stat(logFile).catch(() => null)
  if (before !== null && before.size > MAX_LOG_BYTES) await rename(logFile, `${logFile}.1`)
  const log = await open(logFile, 'a', 0o600)
  const { size: logged } = await log.stat()
  const server = await ServerProcess.start({
    name: 'database',
    command: program.path,
    args: [
      '--no-defaults',
      ...asRoot(),
      `--datadir=${data}`,
      await temporaryFolder(directory),
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      // Relative to the data directory: an absolute path may exceed the limit for sockets, about 100 bytes.
      '--socket=server.sock',
      `--pid-file=${join(directory, 'server.pid')}`,
      `--init-file=${accounts}`,
      '--skip-name-resolve',
      '--max-connections=1000',
      '--character-set-server=utf8mb4',
      '--default-time-zone=+00:00',
      // Durable, as in production.
      '--innodb-flush-log-at-trx-commit=1',
      '--server-id=1',
      '--log-bin=binlog',
      '--sync-binlog=1',
      // A week, to restore a backup up to a point in time.
      '--binlog-expire-logs-seconds=604800',
      '--innodb-buffer-pool-size=512M',
      ...(program.product === 'mysql' ? ['--mysqlx=OFF', '--secure-file-priv=NULL'] : []),
    ],
    records: directory,
    marker: data,
    output: log.fd,
    graceMs: STOP_MS,
  })
  await log.close()
  const url = `mysql://${USER}:${password}@127.0.0.1:${port}`
  let stopping = false
  for (let notice = Date.now() + 5_000; ; ) {
    const problem = await serverVersion(url).then(
      () => null,
      (error: Error) => error.message,
    )
    if (problem === null) break
    if (server.hasEnded) {
      await server.stop()
      const text = (await readFile(logFile)).subarray(logged).toString()
      const advice = isDiskFull(text)
        ? makeRoom(directory)
        : `If this happens at every start, the data may be damaged. Move ${directory} away to start with an empty database.`
      throw new Error(`${program.path} did not start (${problem}). From ${logFile}:\n${lastErrors(text)}\n${advice}`)
    }
    if (Date.now() > notice) {
      say(`Waiting for the database (${problem}). After a crash it recovers first. Its log: ${logFile}`)
      notice = Date.now() + 30_000
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    url,
    description: `${NAMES[program.product]} ${program.version}`,
    process: server,
    ended: server.ended.then((code) => (stopping ? new Promise<never>(() => {}) : code)),
    async stop() {
      stopping = true
      await server.stop()
    },
  }
}

/** The last errors in a log, or its last lines if there are none. After a crash, lines about the system follow the errors. */
function lastErrors(text: string): string {
  const errors = text.split('\n').filter((line) => /\[ERROR\]|Assertion failure| got signal /.test(line))
  return lastLines(errors.length > 0 ? errors.join('\n') : text)
}

/** Asks a server for its product and version. */
async function serverVersion(url: string): Promise<Omit<DatabaseProgram, 'path'>> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 5_000 })
  try {
    const [rows] = await connection.query('SELECT VERSION() AS version')
    const { version } = (rows as { version: string }[])[0]!
    return { product: version.includes('MariaDB') ? 'mariadb' : 'mysql', version: version.split('-')[0]! }
  } finally {
    await connection.end()
  }
}
