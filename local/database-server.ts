import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import mysql from 'mysql2/promise'
import { type DatabaseProgram, findProgram, installProgram, isExecutable } from './database-program.ts'
import { freePort, isFree } from './free-port.ts'
import { endLeftover, ServerProcess } from './server-process.ts'

const run = promisify(execFile)

/** Starting up includes crash recovery, stopping includes writing out what is in memory. */
const START_MS = 120_000
const STOP_MS = 60_000

/** A running MySQL-family server. */
export interface DatabaseServer {
  /** `mysql://user:password@host:port`, with all rights. */
  url: string
  /** Product and version, for people. */
  description: string
  /** Settles if the server ends without having been stopped; never for a server that somebody else runs. */
  ended: Promise<number>
  /** Stops the server, unless somebody else runs it. */
  stop(): Promise<void>
}

/** How to start. */
export interface DatabaseServerOptions {
  /** Folder for the data, the settings and the log; made if it is not there. */
  directory: string
  /** A server to use instead: `MYSQL_URL`. */
  mysqlUrl?: string | undefined
  /** The product that it must be. Default: what there is, MySQL first. */
  product?: DatabaseProgram['product']
  say: (line: string) => void
}

/** What a start leaves for the next one. */
interface Settings {
  product: DatabaseProgram['product']
  password: string
  port: number
}

const USER = 'slotted_counter'

/**
 * Starts a private server with durable settings, on data of its own, or connects to the one that is named. Installs one if
 * there is none.
 *
 * @throws {Error} that says what to do
 */
export async function startDatabaseServer(options: DatabaseServerOptions): Promise<DatabaseServer> {
  const { mysqlUrl, say } = options
  if (mysqlUrl !== undefined && mysqlUrl !== '') {
    if (!URL.canParse(mysqlUrl))
      throw new Error('MYSQL_URL must be of the form mysql://USER:PASSWORD@HOST:PORT[/DATABASE].')
    // Its path names a database, which need not be there yet.
    const server = new URL(mysqlUrl)
    server.pathname = ''
    const version = await serverVersion(server.href).catch((error: Error) => {
      throw new Error(`MYSQL_URL names a server that does not answer: ${error.message}`)
    })
    const description = `${version} (MYSQL_URL)`
    return { url: server.href.replace(/\/$/, ''), description, ended: new Promise(() => {}), stop: async () => {} }
  }
  const directory = resolve(options.directory)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if (await endLeftover(directory, 'database')) say('Stopped a database that an earlier start had left running.')

  const earlier = await readSettings(directory)
  let program = await findProgram(earlier?.product ?? options.product)
  if (program === null || (options.product === 'mariadb' && program.product !== 'mariadb')) {
    await installProgram(say)
    program = await findProgram(options.product)
  }
  if (program !== null && options.product !== undefined && program.product !== options.product) {
    throw new Error(`${options.product === 'mysql' ? 'MySQL 8.0' : 'MariaDB 10.6'} or later is not installed.`)
  }
  if (program === null)
    throw new Error('The database server was installed, but neither mysqld nor mariadbd can be found.')
  if (earlier !== null && earlier.product !== program.product) {
    throw new Error(
      `The data in ${directory} belongs to ${earlier.product}, which is not installed any more. ` +
        `Install it again, or remove ${directory} to start with an empty database.`,
    )
  }
  const port = earlier !== null && (await isFree(earlier.port)) ? earlier.port : await freePort()
  const settings = { product: program.product, password: earlier?.password ?? randomBytes(18).toString('hex'), port }
  const data = join(directory, 'data')
  if (earlier === null) await createData(program, directory, data)
  await writePrivately(join(directory, 'settings.json'), JSON.stringify(settings))
  return launch(program, directory, data, settings, say)
}

async function readSettings(directory: string): Promise<Settings | null> {
  const text = await readFile(join(directory, 'settings.json'), 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Settings)
}

async function writePrivately(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await chmod(`${path}.new`, 0o600)
  await rename(`${path}.new`, path)
}

/** Makes an empty data directory: beside its place first, so that a half-made one is never taken for data. */
async function createData(program: DatabaseProgram, directory: string, data: string): Promise<void> {
  const unfinished = join(directory, 'data.unfinished')
  await rm(unfinished, { recursive: true, force: true })
  await rm(data, { recursive: true, force: true })
  const user = userInfo().username
  try {
    if (program.product === 'mysql') {
      await run(program.path, ['--no-defaults', '--initialize-insecure', `--datadir=${unfinished}`, ...asRoot()])
    } else {
      const install = await mariadbInstaller(program.path)
      const root = ['--auth-root-authentication-method=socket', `--auth-root-socket-user=${user}`, '--skip-test-db']
      await run(install, ['--no-defaults', `--datadir=${unfinished}`, ...root, `--user=${user}`])
    }
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string }
    throw new Error(`${program.path} could not make a data directory in ${directory}:\n${tail(stderr || stdout)}`)
  }
  await rename(unfinished, data)
}

async function mariadbInstaller(server: string): Promise<string> {
  const folders = [dirname(server), '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
  for (const folder of folders) {
    const path = join(folder, 'mariadb-install-db')
    if (await isExecutable(path)) return path
  }
  throw new Error('mariadb-install-db was not found; it comes with the MariaDB server.')
}

/** MySQL and MariaDB refuse to run as root unless told to. */
function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
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
  // One statement a line: that is how both servers read an init file. root stays without a password, but with
  // skip-name-resolve it is reachable through the socket in the private data directory only.
  await writePrivately(
    accounts,
    `CREATE USER IF NOT EXISTS ${user} IDENTIFIED BY '${password}';\n` +
      `ALTER USER ${user} IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO ${user} WITH GRANT OPTION;\n`,
  )
  const logFile = join(directory, 'server.log')
  const log = await open(logFile, 'a', 0o600)
  const server = await ServerProcess.start({
    name: 'database',
    command: program.path,
    args: [
      '--no-defaults',
      ...asRoot(),
      `--datadir=${data}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      // Relative to the data directory: an absolute path may be longer than a socket's may be.
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
      '--binlog-expire-logs-seconds=3600',
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
  let ended = false
  void server.ended.then(() => {
    ended = true
  })
  const began = Date.now()
  for (let notice = began + 5_000; ; ) {
    const problem = await serverVersion(url).then(
      () => null,
      (error: Error) => error.message,
    )
    if (problem === null) break
    if (ended || Date.now() - began > START_MS) {
      await server.stop()
      const text = await readFile(logFile, 'utf8')
      throw new Error(`${program.path} did not come up (${problem}). The end of ${logFile}:\n${tail(text)}`)
    }
    if (Date.now() > notice) {
      say('Waiting for the database to come up (after a crash it recovers first) …')
      notice = Date.now() + 10_000
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    url,
    description: `${program.product === 'mysql' ? 'MySQL' : 'MariaDB'} ${program.version}`,
    ended: new Promise((resolve) => {
      void server.ended.then((code) => {
        if (!stopping) resolve(code)
      })
    }),
    async stop() {
      stopping = true
      await server.stop()
    },
  }
}

/**
 * Asks a server for its product and version.
 *
 * @throws {Error} if it cannot be reached
 */
async function serverVersion(url: string): Promise<string> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 5_000 })
  try {
    const [rows] = await connection.query('SELECT VERSION() AS version')
    const { version } = (rows as { version: string }[])[0]!
    return version.includes('MariaDB') ? `MariaDB ${version.split('-')[0]}` : `MySQL ${version.split('-')[0]}`
  } finally {
    await connection.end()
  }
}

/** The last lines of a log. */
function tail(text: string): string {
  return text.trimEnd().split('\n').slice(-10).join('\n')
}
