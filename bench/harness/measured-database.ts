import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'
import type { DatabaseServer } from '../../local/database/database-server.ts'

const LOG_WRITER_THREADS = 'innodb_log_writer_threads'

/** Settings that determine the cost of a commit and how writers wait for each other. */
const VARIABLES = [
  'innodb_flush_log_at_trx_commit',
  'sync_binlog',
  'log_bin',
  LOG_WRITER_THREADS,
  'transaction_isolation',
  'tx_isolation',
]

/** How often writers of a server have waited for each other. */
export interface Waits {
  lockWaits: number
  deadlocks: number
}

/** A database server to measure on. */
export class BenchServer {
  readonly product: 'mysql' | 'mariadb' | 'vitess'
  readonly #server: DatabaseServer
  readonly #admin: Pool
  readonly #databases = new Set<string>()
  #created = 0
  #logWriterThreadsWereOff = false

  constructor(
    server: DatabaseServer,
    product: BenchServer['product'] = server.description.startsWith('MariaDB') ? 'mariadb' : 'mysql',
  ) {
    this.#server = server
    this.product = product
    this.#admin = mysql.createPool({ uri: server.url, connectionLimit: 4, supportBigNumbers: true })
  }

  get url(): string {
    return this.#server.url
  }

  /**
   * Turns MySQL's dedicated log writer threads on until `stop`. MySQL 8.0, which PlanetScale runs, has them on. Later versions
   * turn them off on small machines, where they take CPU time from everything else. Without them, a commit that finds another's
   * log record unfinished occasionally waits 100 ms for a wake-up that does not come (`log_self_write_up_to` in MySQL's
   * storage/innobase/log/log0write.cc).
   */
  async turnOnLogWriterThreads(): Promise<void> {
    const [row] = await this.query('SHOW GLOBAL VARIABLES LIKE ?', [LOG_WRITER_THREADS])
    if (row?.Value !== 'OFF') return
    await this.query(`SET GLOBAL ${LOG_WRITER_THREADS} = ON`)
    this.#logWriterThreadsWereOff = true
  }

  /** Product and version. */
  get description(): string {
    return this.#server.description
  }

  /** Settings that determine the cost of writing. */
  async settings(): Promise<Record<string, string>> {
    const rows = await this.query(
      `SHOW VARIABLES WHERE Variable_name IN (${VARIABLES.map(() => '?').join(', ')})`,
      VARIABLES,
    )
    return Object.fromEntries(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]))
  }

  /** Runs a query directly, without the endpoint. */
  async query(sql: string, args: unknown[] = []): Promise<RowDataPacket[]> {
    const [rows] = await this.#admin.query<RowDataPacket[]>(sql, args)
    return rows
  }

  /** Creates an empty database. `stop` drops it if nobody did. */
  async createDatabase(): Promise<string> {
    const name = `slotted_bench_${process.pid}_${Date.now().toString(36)}_${this.#created++}`
    this.#databases.add(name)
    await this.query(`CREATE DATABASE \`${name}\``)
    return name
  }

  async dropDatabase(name: string): Promise<void> {
    await this.query(`DROP DATABASE IF EXISTS \`${name}\``)
    this.#databases.delete(name)
  }

  /** Row lock waits and deadlocks of all clients since the server was started. */
  async waits(): Promise<Waits> {
    const waits = await this.query(`SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'`)
    // MySQL has deadlocks in its metrics, MariaDB in its status variables.
    const deadlocks = await this.query(
      this.product === 'mysql'
        ? `SELECT count AS Value FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'`
        : `SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'`,
    )
    return { lockWaits: Number(waits[0]?.Value ?? 0), deadlocks: Number(deadlocks[0]?.Value ?? 0) }
  }

  /** Drops its databases, and stops the server unless it was already running. */
  async stop(attempt: (work: Promise<unknown>) => Promise<unknown>): Promise<void> {
    for (const name of this.#databases) await attempt(this.dropDatabase(name))
    if (this.#logWriterThreadsWereOff) await attempt(this.query(`SET GLOBAL ${LOG_WRITER_THREADS} = OFF`))
    await attempt(this.#admin.end())
    await attempt(this.#server.stop())
  }
}
