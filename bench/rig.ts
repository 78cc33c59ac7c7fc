import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'
import { type DatabaseServer, startDatabaseServer } from '../local/database-server.ts'
import { buildWorker } from '../local/workerd.ts'

/** The Workers that are measured, by their main modules here. */
const WORKERS = { product: 'worker.ts', bare: 'bare-worker.ts' }

export type WorkerName = keyof typeof WORKERS

/** Settings that decide how much a commit costs, and how writers wait for each other. */
const VARIABLES = ['innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin', 'transaction_isolation', 'tx_isolation']

/** What all measurements share: a database server, the built Workers, and a folder that goes away with it. */
export class Rig {
  /** Aborted when the bench is to stop: whatever takes long looks at it. */
  readonly signal: AbortSignal
  readonly #say: (line: string) => void
  #directory: string | null = null
  #server: DatabaseServer | null = null
  #admin: Pool | null = null
  #scripts: Partial<Record<WorkerName, string>> = {}
  readonly #databases = new Set<string>()
  #made = 0

  constructor({ signal, say }: { signal: AbortSignal; say: (line: string) => void }) {
    this.signal = signal
    this.#say = say
  }

  /**
   * Builds and starts everything. Whether it succeeds or not, `stop` takes it down.
   *
   * @param mysqlUrl a server to use instead of one of its own: `MYSQL_URL`
   * @throws {Error} that says what to do
   */
  async start(mysqlUrl: string | undefined): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), 'slotted-counter-bench-'))
    this.#say('Starting the database …')
    this.#server = await startDatabaseServer({ directory: join(this.#directory, 'database'), mysqlUrl, say: this.#say })
    this.#admin = mysql.createPool({ uri: this.#server.url, connectionLimit: 4, supportBigNumbers: true })
    for (const [name, entry] of Object.entries(WORKERS)) {
      this.signal.throwIfAborted()
      this.#say(`Building bench/${entry} …`)
      this.#scripts[name as WorkerName] = await buildWorker(
        join(this.#directory, `built-${name}`),
        join(import.meta.dirname, entry),
      )
    }
    this.signal.throwIfAborted()
  }

  get mysqlUrl(): string {
    return this.#server!.url
  }

  /** Product and version of the database server. */
  get database(): string {
    return this.#server!.description
  }

  /** The database server's settings that matter for what writing costs. */
  async databaseSettings(): Promise<Record<string, string>> {
    const rows = await this.query(
      `SHOW VARIABLES WHERE Variable_name IN (${VARIABLES.map(() => '?').join(', ')})`,
      VARIABLES,
    )
    return Object.fromEntries(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]))
  }

  /** The built module of a Worker. */
  scriptOf(worker: WorkerName): string {
    return this.#scripts[worker]!
  }

  /** A folder for one measurement's things. */
  newDirectory(): Promise<string> {
    return mkdtemp(join(this.#directory!, 'run-'))
  }

  /** Asks the database server directly. */
  async query(sql: string, args: unknown[] = []): Promise<RowDataPacket[]> {
    const [rows] = await this.#admin!.query<RowDataPacket[]>(sql, args)
    return rows
  }

  /** Makes an empty database. */
  async createDatabase(): Promise<string> {
    const name = `slotted_bench_${process.pid}_${Date.now().toString(36)}_${this.#made++}`
    this.#databases.add(name)
    await this.query(`CREATE DATABASE \`${name}\``)
    return name
  }

  async dropDatabase(name: string): Promise<void> {
    await this.query(`DROP DATABASE IF EXISTS \`${name}\``)
    this.#databases.delete(name)
  }

  /** Takes everything down. Does what it can if something of it fails. */
  async stop(): Promise<void> {
    const attempt = (work: Promise<unknown> | undefined) =>
      work?.catch((error: unknown) =>
        this.#say(`Cleaning up: ${error instanceof Error ? error.message : String(error)}`),
      )
    for (const name of this.#databases) await attempt(this.dropDatabase(name))
    await attempt(this.#admin?.end())
    await attempt(this.#server?.stop())
    if (this.#directory !== null) {
      await attempt(rm(this.#directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
    }
  }
}
