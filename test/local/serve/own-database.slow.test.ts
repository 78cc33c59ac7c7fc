import { execFile, spawn } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { type DatabaseServer, startDatabaseServer } from '../../../local/database/database-server.ts'
import { isInstalled } from '../../../local/processes/install-system-packages.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { atEndOfSuite, type Finally, PROJECT, stateDirectory } from '../npm-script.ts'
import { Served, serveFolder, TOKEN } from './serve-script.ts'

const run = promisify(execFile)
const page = await readFile(join(PROJECT, 'docs/one-machine.md'), 'utf8')
const authorized = { Authorization: `Bearer ${TOKEN}` }

/** The command of docs/one-machine.md that begins with a text, with MariaDB's names of the programs. */
function command(begin: string): string {
  const line = page.split('\n').find((one) => one.trim().startsWith(begin))
  if (line === undefined) throw new Error(`The document has no command that begins with ${begin}.`)
  return line
    .trim()
    .replace(/\bmysqlbinlog\b/, 'mariadb-binlog')
    .replace('--skip-gtids ', '')
}

/** A MariaDB server with the database and the account of docs/one-machine.md. */
class Owned {
  server: DatabaseServer
  readonly root: Connection
  readonly mysqlUrl: string
  readonly #directory: string

  private constructor(server: DatabaseServer, root: Connection, directory: string) {
    this.server = server
    this.root = root
    this.#directory = directory
    this.mysqlUrl = `mysql://counter:PASSWORD@127.0.0.1:${new URL(server.url).port}/slotted_counter`
  }

  static async start(atEnd: Finally): Promise<Owned> {
    const directory = await stateDirectory(atEnd)
    const server = await startDatabaseServer({ directory, product: 'mariadb', say: () => {} })
    const root = await mysql.createConnection({ uri: server.url, multipleStatements: true })
    const owned = new Owned(server, root, directory)
    atEnd(async () => {
      root.destroy()
      await owned.server.stop()
    })
    await root.query(/```sql\n(CREATE DATABASE .*?)```/s.exec(page)![1]!)
    return owned
  }

  /** Starts the stopped server again. */
  async startAgain(): Promise<void> {
    const port = Number(new URL(this.server.url).port)
    this.server = await startDatabaseServer({ directory: this.#directory, port, say: () => {} })
  }

  /** Runs a command as root of the database, in the folder of the backups. */
  async run(folder: string, command: string): Promise<string> {
    const { port, username, password } = new URL(this.server.url)
    const client = `[client]\nhost=127.0.0.1\nport=${port}\nuser=${username}\npassword=${password}\n`
    await writeFile(join(folder, '.my.cnf'), client)
    const env = { ...process.env, HOME: folder }
    return (await run('bash', ['-eo', 'pipefail', '-c', command], { cwd: folder, env })).stdout
  }
}

/** Counts views of a page. */
async function countSome(served: Served, key: string, views: number): Promise<void> {
  for (let i = 0; i < views; i++) {
    expect((await served.view({ 'X-Forwarded-For': `203.0.113.${i}` }, key)).status).toBe(204)
  }
}

/** Rolls up, and compares all sums of the tables with each other. @returns the counts by day and the totals of the types */
async function sums(served: Served): Promise<string[]> {
  const { status } = await fetch(`${served.url}/v1/rollup`, { method: 'POST', headers: authorized })
  expect(status).toBe(200)
  await run(process.execPath, [join(PROJECT, 'cli/verify/verify.ts'), '--url', served.url, '--token', TOKEN])
  const paths = ['page_view', 'visitor'].flatMap((type) => [`export/${type}?by=day`, `types/${type}`])
  const texts = paths.map(async (path) => (await fetch(`${served.url}/v1/${path}`, { headers: authorized })).text())
  return (await Promise.all(texts)).map((text) => text.replace(/"rolledUpAt":"[^"]*"/g, ''))
}

async function stop(served: Served): Promise<void> {
  await served.script.signal('SIGTERM')
  await served.script.ended
}

// .ci/run installs it on Debian.
const isReady = await isInstalled('mariadb-binlog')
describe.skipIf(!isReady)('serve, on a MariaDB of MYSQL_URL', { timeout: 300_000 }, () => {
  const atEnd = atEndOfSuite()
  let owned: Owned
  let served: Served

  it('says that its password was changed or its server stopped, and continues by itself', async () => {
    owned = await Owned.start(atEnd)
    const folder = await serveFolder(atEnd)
    served = await Served.start({ MYSQL_URL: owned.mysqlUrl, TRUSTED_PROXIES: '127.0.0.1' }, { folder, atEnd })
    let acknowledged = 0
    let unknown = 0
    const view = async () => {
      const response = await served.view()
      if (response.status === 204) acknowledged++
      else if (response.headers.get('X-Hit') === 'unknown') unknown++
      return response.status
    }
    const status = async () => (await fetch(`${served.url}/v1/status`, { headers: authorized })).text()
    const failures = () => served.log.filter(({ level, path }) => level === 'error' && path === '/hit').length
    /** Sends hits until one is refused and the log says so: a line a second. */
    const refused = (before: number) =>
      expect.poll(async () => [await view(), failures() > before], { interval: 200 }).toEqual([503, true])
    expect(await view()).toBe(204)

    const user = `counter@'127.0.0.1'`
    await owned.root.query(`ALTER USER ${user} IDENTIFIED BY 'other'; KILL USER ${user}`)
    await refused(0)
    expect(await status()).toContain('refuses the credentials')
    await owned.root.query(`ALTER USER ${user} IDENTIFIED BY 'PASSWORD'`)
    await expect.poll(view).toBe(204)

    const before = failures()
    await owned.server.stop()
    await refused(before)
    expect(await status()).toContain('database_unavailable')
    await owned.startAgain()
    await expect.poll(view).toBe(204)
    const counted = await served.count('page_view')
    expect(counted).toBeGreaterThanOrEqual(acknowledged)
    expect(counted).toBeLessThanOrEqual(acknowledged + unknown)
  })

  it('is restored from the dump and the copied binary log, and loses only what was not copied', async () => {
    const backups = await stateDirectory(atEnd)
    await countSome(served, '/dumped', 20)
    await owned.run(backups, command('mariadb-dump --single-transaction --master-data'))
    const dump = await owned.run(backups, 'zcat counter.sql.gz')
    const [, file = '', position = ''] = /MASTER_LOG_FILE='(.*?)', MASTER_LOG_POS=(\d+)/.exec(dump) ?? []

    const copy = command('mysqlbinlog --read-from')
      .replace('DATABASE', '127.0.0.1')
      .replace(/binlog\.\d+/, file)
    const copying = spawn('bash', ['-c', `exec ${copy}`], { cwd: backups, env: { ...process.env, HOME: backups } })
    const copied = new Promise((resolve) => copying.once('exit', resolve))
    onTestFinished(() => void copying.kill())
    await countSome(served, '/dumped', 5)
    await countSome(served, '/later', 30)
    const expected = await sums(served)
    const root = await mysql.createConnection({ uri: owned.server.url })
    const [[source]] = await root.query<RowDataPacket[]>('SHOW MASTER STATUS')
    root.destroy()
    await expect.poll(async () => (await stat(join(backups, file))).size).toBeGreaterThanOrEqual(source!.Position)
    copying.kill()
    await copied
    await countSome(served, '/later', 7)
    await stop(served)
    await owned.server.stop()

    owned = await Owned.start(atEnd)
    await owned.run(backups, command('zcat counter.sql.gz | mysql'))
    const apply = command('mysqlbinlog --database')
    await owned.run(backups, apply.replace('POSITION', position).replace('binlog.0000NN …', file))
    served = await Served.start(
      { MYSQL_URL: owned.mysqlUrl, TRUSTED_PROXIES: '127.0.0.1' },
      { folder: served.folder, atEnd },
    )
    expect(await sums(served)).toEqual(expected)
    expect([await served.count('page_view', '/dumped'), await served.count('page_view', '/later')]).toEqual([25, 30])
  })

  it('moves into the database of DATABASE_URL, with every sum, and counts there', async () => {
    const { name, databaseUrl } = await takeDatabase()
    const day = new Date().getUTCDay()
    await countSome(served, '/moved', 10)
    const expected = await sums(served)
    await stop(served)
    const backups = await stateDirectory(atEnd)
    await owned.run(backups, command('mariadb-dump --single-transaction --no-create-info'))
    const text = await readFile(join(backups, 'counter.sql'), 'utf8')
    const target = await mysql.createConnection({ uri: `${inject('mysqlUrl')}/${name}`, multipleStatements: true })
    await target.query(text)
    target.destroy()
    served = await Served.start(
      { DATABASE_URL: databaseUrl, TRUSTED_PROXIES: '127.0.0.1' },
      { folder: served.folder, atEnd },
    )
    expect(await sums(served)).toEqual(expected)
    await countSome(served, '/moved', 10)
    expect(await served.count('page_view', '/moved')).toBe(20)
    // The same visitors, unless it is another day.
    const visitors = await served.count('visitor', '/moved')
    if (new Date().getUTCDay() === day) expect(visitors).toBe(10)
    await sums(served)
  })
})
