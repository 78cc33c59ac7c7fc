import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { describe, expect, inject, vi } from 'vitest'
import { type DatabaseServer, startDatabaseServer } from '../../../local/database/database-server.ts'
import { isInstalled } from '../../../local/processes/install-system-packages.ts'
import { type Finally, PROJECT, stateDirectory } from '../npm-script.ts'
import { type Served, TOKEN } from './serve-script.ts'

const run = promisify(execFile)
const page = await readFile(join(PROJECT, 'docs/one-machine.md'), 'utf8')
const authorized = { Authorization: `Bearer ${TOKEN}` }

type Product = 'mariadb' | 'mysql'

/** Where scripts/mysql has installed MySQL, whose programs need its libraries. */
const { stdout } = await run(join(PROJECT, 'scripts/mysql'), ['path'])
const chroot = stdout.trim()
// .ci/run installs them on Debian.
const hasMariaDB = await isInstalled('mariadb-binlog')
const isReady = { mariadb: hasMariaDB, mysql: hasMariaDB && (await isInstalled(`${chroot}/usr/bin/mysqldump`)) }

/** A suite for each product, skipped if its programs are not installed. */
export function describeProducts(title: string, suite: (product: Product) => void): void {
  for (const product of ['mariadb', 'mysql'] as const)
    describe.skipIf(!isReady[product])(`${title} ${product}`, { timeout: 300_000 }, () => suite(product))
}

/** The command of docs/one-machine.md that begins with a text. */
export function command(begin: string): string {
  const line = page.split('\n').find((one) => one.trim().startsWith(begin))
  if (line === undefined) throw new Error(`The document has no command that begins with ${begin}.`)
  return line.trim()
}

/** A server with the database and the account of docs/one-machine.md. */
export class OwnedServer {
  readonly product: Product
  server: DatabaseServer
  readonly mysqlUrl: string
  readonly #start: (port?: number) => Promise<DatabaseServer>

  private constructor(product: Product, server: DatabaseServer, start: (port?: number) => Promise<DatabaseServer>) {
    this.product = product
    this.server = server
    this.#start = start
    this.mysqlUrl = `mysql://counter:PASSWORD@127.0.0.1:${new URL(server.url).port}/slotted_counter`
  }

  static async start(product: Product, atEnd: Finally): Promise<OwnedServer> {
    const directory = await stateDirectory(atEnd)
    const start = async (port?: number) => {
      vi.stubEnv('PATH', await pathOf(product))
      try {
        return await startDatabaseServer({ directory, product, port, say: () => {} })
      } finally {
        vi.unstubAllEnvs()
      }
    }
    const owned = new OwnedServer(product, await start(), start)
    atEnd(() => owned.server.stop())
    await owned.query(/```sql\n(CREATE DATABASE .*?)```/s.exec(page)![1]!)
    return owned
  }

  /** Starts the stopped server again. */
  async startAgain(): Promise<void> {
    this.server = await this.#start(Number(new URL(this.server.url).port))
  }

  /** Runs statements as root. */
  async query<T extends RowDataPacket>(sql: string): Promise<T[]> {
    const root = await mysql.createConnection({ uri: this.server.url, multipleStatements: true })
    try {
      return (await root.query<T[]>(sql))[0]
    } finally {
      root.destroy()
    }
  }

  /**
   * The environment in which clients connect as root of a server: by default, of this one, with the programs of its product. Others
   * are reached with MariaDB's: vtgate may offer only mysql_native_password, which MySQL 9's lack.
   *
   * @param folder for their settings
   */
  async clientOf(folder: string, other?: string): Promise<NodeJS.ProcessEnv> {
    const { port, username, password } = new URL(other ?? this.server.url)
    const client = `[client]\nhost=127.0.0.1\nport=${port}\nuser=${username}\npassword=${password}\n`
    await writeFile(join(folder, '.my.cnf'), client)
    return { ...process.env, HOME: folder, PATH: await pathOf(other === undefined ? this.product : 'mariadb') }
  }

  /** Runs a command in a folder, as root of this server or another one. */
  async run(folder: string, command: string, other?: string): Promise<string> {
    const env = await this.clientOf(folder, other)
    return (await run('bash', ['-c', command], { cwd: folder, env })).stdout
  }
}

/** A PATH with the programs of a product. */
async function pathOf(product: Product): Promise<string> {
  const path = process.env.PATH ?? ''
  if (product === 'mariadb') return path
  const folder = join(inject('scratch'), 'mysql-programs')
  await mkdir(folder, { recursive: true })
  for (const program of ['usr/sbin/mysqld', 'usr/bin/mysql', 'usr/bin/mysqldump', 'usr/bin/mysqlbinlog']) {
    const base = program.endsWith('mysqld') ? ` --basedir='${chroot}/usr'` : ''
    const loader = `'${chroot}/lib64/ld-linux-x86-64.so.2' --library-path '${chroot}/usr/lib/x86_64-linux-gnu'`
    const script = `#!/bin/sh\nexec ${loader} '${chroot}/${program}' "$@"${base}\n`
    await writeFile(join(folder, program.split('/').at(-1)!), script, { mode: 0o755 })
  }
  return `${folder}:${path}`
}

/** Counts views of a page, each of another visitor. */
export async function countSome(served: Served, key: string, views: number): Promise<void> {
  for (let i = 0; i < views; i++) {
    expect((await served.view({ 'X-Forwarded-For': `203.0.113.${i}` }, key)).status).toBe(204)
  }
}

/** Rolls up, and compares all sums of the tables with each other. @returns the counts by day and the totals of the types */
export async function sums(served: Served): Promise<string[]> {
  const { status } = await fetch(`${served.url}/v1/rollup`, { method: 'POST', headers: authorized })
  expect(status).toBe(200)
  await run(process.execPath, [join(PROJECT, 'cli/verify/verify.ts'), '--url', served.url, '--token', TOKEN])
  const paths = ['page_view', 'visitor'].flatMap((type) => [`export/${type}?by=day`, `types/${type}`])
  const texts = paths.map(async (path) => (await fetch(`${served.url}/v1/${path}`, { headers: authorized })).text())
  return (await Promise.all(texts)).map((text) => text.replace(/"rolledUpAt":"[^"]*"/g, ''))
}

export async function stop(served: Served): Promise<void> {
  await served.script.signal('SIGTERM')
  await served.script.ended
}
