import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'
import { migrate } from '../../../cli/migrate/migrations.ts'
import { PlanetScaleEndpoint } from '../../../local/planetscale/endpoint.ts'
import type { TestDatabases } from './test-databases.ts'

/** The keyspace of test/local/serve/way-out.slow.test.ts, which has one shard. */
export const UNSHARDED = 'slotted-counter'

/** The databases that vtgate lists although they are not for all tests. */
const NOT_SHARED = new Set(['information_schema', 'mysql', 'performance_schema', 'sys', UNSHARDED])

/** The table in which `migrate` records the version. */
const RECORD = 'schema_version'

/** The most rows that are deleted. With more, TRUNCATE is faster; with few, it takes 30 times as long. */
const MOST_DELETED = 2_000

/** How often vtgate is asked whether it knows a new table. */
const MOST_ATTEMPTS = 50

/**
 * Databases on Vitess. A client cannot make keyspaces, so tests take turns with those that exist.
 *
 * Each test gets a new endpoint with a new password, and both end with the test. So work that a finished test left behind, such as
 * a late retry, is refused and never writes into the next test's database.
 */
export class KeyspacePool implements TestDatabases {
  readonly description: string
  readonly ranges: number
  readonly #mysqlUrl: string
  readonly #pool: Pool
  /** The one that has been free for the longest time comes first. */
  readonly #free: string[]
  readonly #waiting: ((keyspace: string) => void)[] = []
  readonly #inUse = new Map<string, PlanetScaleEndpoint>()
  /** What `#structure` says of each keyspace that this run has migrated. */
  readonly #migrated = new Map<string, string>()

  private constructor(mysqlUrl: string, pool: Pool, shards: Map<string, number>) {
    const [one, ...others] = new Set(shards.values())
    if (one === undefined || others.length > 0) {
      throw new Error(
        `All keyspaces must have the same number of shards: ${JSON.stringify(Object.fromEntries(shards))}`,
      )
    }
    this.description = `Vitess with ${shards.size} keyspaces of ${one === 1 ? '1 shard' : `${one} shards`}`
    this.ranges = one
    this.#mysqlUrl = mysqlUrl
    this.#pool = pool
    this.#free = [...shards.keys()].sort()
  }

  /** Opens the pool, if the server is a vtgate. Returns null if it is not. */
  static async open(mysqlUrl: string): Promise<KeyspacePool | null> {
    const pool = mysql.createPool({ uri: mysqlUrl, connectionLimit: 20 })
    try {
      const column = async (sql: string) => {
        const [rows] = await pool.query<RowDataPacket[]>(sql)
        return rows.map((row) => String(Object.values(row)[0]))
      }
      const [version = ''] = await column('SELECT VERSION()')
      if (!version.includes('Vitess')) {
        await pool.end()
        return null
      }
      const shards = new Map<string, number>()
      for (const name of await column('SHOW DATABASES')) if (!NOT_SHARED.has(name)) shards.set(name, 0)
      for (const shard of await column('SHOW VITESS_SHARDS')) {
        const [keyspace = ''] = shard.split('/')
        if (keyspace !== UNSHARDED) shards.set(keyspace, (shards.get(keyspace) ?? 0) + 1)
      }
      return new KeyspacePool(mysqlUrl, pool, shards)
    } catch (error) {
      await pool.end()
      throw error
    }
  }

  async take({ migrated }: { migrated: boolean }): Promise<{ name: string; databaseUrl: string }> {
    const name = this.#free.shift() ?? (await new Promise<string>((resolve) => this.#waiting.push(resolve)))
    try {
      await this.#prepare(name, migrated)
      if (migrated) await this.#pool.query('UPDATE ??.?? SET made_at = UTC_TIMESTAMP()', [name, RECORD])
      const endpoint = new PlanetScaleEndpoint({ mysqlUrl: this.#mysqlUrl, password: randomBytes(12).toString('hex') })
      await endpoint.listen()
      this.#inUse.set(name, endpoint)
      return { name, databaseUrl: endpoint.urlOf(name) }
    } catch (error) {
      this.#release(name)
      throw error
    }
  }

  async giveBack(name: string): Promise<void> {
    const endpoint = this.#inUse.get(name)
    this.#inUse.delete(name)
    await endpoint?.close()
    this.#release(name)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#inUse.values()].map((endpoint) => endpoint.close()))
    await this.#pool.end()
  }

  #release(name: string): void {
    const next = this.#waiting.shift()
    if (next) next(name)
    else this.#free.push(name)
  }

  async #prepare(name: string, migrated: boolean): Promise<void> {
    const tables = await this.#tables(name)
    // A test may drop tables, columns or indexes.
    if (migrated && this.#migrated.has(name) && (await this.#structure(name)) === this.#migrated.get(name)) {
      await Promise.all(tables.filter((table) => table !== RECORD).map((table) => this.#empty(name, table)))
      return
    }
    this.#migrated.delete(name)
    for (const table of tables) await this.#pool.query('DROP TABLE ??.??', [name, table])
    if (!migrated) return
    await migrate({ databaseUrl: `${this.#mysqlUrl}/${name}` })
    const created = await this.#tables(name)
    await Promise.all(created.map((table) => this.#untilKnown(name, table)))
    this.#migrated.set(name, await this.#structure(name))
  }

  /**
   * Waits until vtgate accepts all columns of a table. vttablet reports a change after the statement has ended. If two tablets on
   * one server deadlock while they record changes, the report is lost until the next change.
   */
  async #untilKnown(name: string, table: string): Promise<void> {
    const [columns] = await this.#pool.query<RowDataPacket[]>('SHOW COLUMNS FROM ??.??', [name, table])
    const names = columns.map((column) => String(Object.values(column)[0]))
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#pool.query('SELECT ?? FROM ??.?? LIMIT 0', [names, name, table])
        return
      } catch (error) {
        if (attempt === MOST_ATTEMPTS) throw error
        await setTimeout(100)
        await this.#pool.query('ALTER TABLE ??.?? COMMENT = ?', [name, table, String(attempt % 2)])
      }
    }
  }

  async #tables(name: string): Promise<string[]> {
    const [rows] = await this.#pool.query<RowDataPacket[]>('SHOW TABLES FROM ??', [name])
    return rows.map((row) => String(Object.values(row)[0]))
  }

  /** The columns and indexes of all tables. */
  async #structure(name: string): Promise<string> {
    const queries = [
      'SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, ORDINAL_POSITION',
      'SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX',
    ]
    const results = await Promise.all(queries.map((sql) => this.#pool.query<RowDataPacket[]>(sql, [name])))
    return JSON.stringify(results.map(([rows]) => rows.map((row) => Object.values(row))))
  }

  async #empty(name: string, table: string): Promise<void> {
    const [more] = await this.#pool.query<RowDataPacket[]>(`SELECT 1 FROM ??.?? LIMIT 1 OFFSET ${MOST_DELETED}`, [
      name,
      table,
    ])
    await this.#pool.query(more.length > 0 ? 'TRUNCATE TABLE ??.??' : 'DELETE FROM ??.??', [name, table])
  }
}
