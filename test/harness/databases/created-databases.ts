import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { migrate } from '../../../cli/migrate/migrations.ts'
import { PlanetScaleEndpoint } from '../../../local/planetscale/endpoint.ts'
import type { TestDatabases } from './test-databases.ts'

/** Connections that make databases. The server writes each table to the disk, and can do so for several at a time. */
const CONNECTIONS = 4
/** The most databases that are made before a test asks for them. */
const MOST_AHEAD = 4

/** A migrated database from which others are copied, which is several times faster than migrating each. */
interface Template {
  name: string
  tables: string[]
  /** The tables in which migrations have left rows. */
  filled: string[]
}

/**
 * Databases on MySQL and MariaDB: each test gets one that is new. The next ones are made while tests run, because that takes
 * longer than many tests do.
 */
export class CreatedDatabases implements TestDatabases {
  readonly description: string
  readonly ranges = 1
  readonly #connections: readonly Connection[]
  readonly #keep: boolean
  readonly #endpoint: PlanetScaleEndpoint
  readonly #run = `${process.pid}_${Date.now().toString(36)}`
  readonly #made: string[] = []
  #template: Promise<Template> | undefined
  /** Databases with all tables that no test has yet, in the order in which they are made. */
  readonly #ahead: Promise<string>[] = []
  #taken = 0

  private constructor(
    description: string,
    connections: readonly Connection[],
    endpoint: PlanetScaleEndpoint,
    keep: boolean,
  ) {
    this.description = description
    this.#connections = connections
    this.#endpoint = endpoint
    this.#keep = keep
  }

  /** @param options `keep`: whether to leave the databases behind, on a server that ends with the run */
  static async open(mysqlUrl: string, description: string, { keep = false } = {}): Promise<CreatedDatabases> {
    const endpoint = new PlanetScaleEndpoint({ mysqlUrl, password: 'test' })
    await endpoint.listen()
    const connect = () => mysql.createConnection({ uri: mysqlUrl })
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, connect))
    return new CreatedDatabases(description, connections, endpoint, keep)
  }

  async take({ migrated }: { migrated: boolean }): Promise<{ name: string; databaseUrl: string }> {
    const name = await (migrated ? this.#next() : this.#create(String(this.#made.length)))
    // As new as it is to the test: the first roll-up of new tables may still be to come.
    if (migrated) await this.#connections[0]!.query('UPDATE ??.schema_version SET made_at = UTC_TIMESTAMP()', [name])
    return { name, databaseUrl: this.#endpoint.urlOf(name) }
  }

  /** Does nothing: no other test gets it. */
  async giveBack(): Promise<void> {}

  async close(): Promise<void> {
    await this.#endpoint.close()
    await Promise.allSettled(this.#ahead)
    if (!this.#keep) await this.#each(this.#made, 'DROP DATABASE IF EXISTS ??', (name) => [name])
    await Promise.all(this.#connections.map((connection) => connection.end()))
  }

  /** A database with all tables. */
  #next(): Promise<string> {
    const next = this.#ahead.shift() ?? this.#copy()
    // A run of one file takes few.
    const enough = Math.min(++this.#taken, MOST_AHEAD)
    while (this.#ahead.length < enough) {
      const copy = () => this.#copy()
      const made = (this.#ahead.at(-1) ?? next).then(copy, copy)
      // The test that takes it gets the error.
      made.catch(() => {})
      this.#ahead.push(made)
    }
    return next
  }

  /** Runs a statement for each item, several at a time. */
  async #each(items: readonly string[], sql: string, values: (item: string) => unknown[]): Promise<void> {
    const left = [...items]
    const one = async (connection: Connection) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await connection.query(sql, values(item))
    }
    await Promise.all(this.#connections.map(one))
  }

  async #create(suffix: string): Promise<string> {
    const name = `slotted_test_${this.#run}_${suffix}`
    this.#made.push(name)
    await this.#connections[0]!.query('CREATE DATABASE ??', [name])
    return name
  }

  async #migrateTemplate(): Promise<Template> {
    const name = await this.#create('template')
    await migrate({ databaseUrl: this.#endpoint.urlOf(name) })
    const [connection] = this.#connections as [Connection]
    const [rows] = await connection.query<RowDataPacket[]>('SHOW TABLES FROM ??', [name])
    const tables = rows.map((row) => String(Object.values(row)[0]))
    const filled: string[] = []
    for (const table of tables) {
      const [found] = await connection.query<RowDataPacket[]>('SELECT 1 FROM ??.?? LIMIT 1', [name, table])
      if (found.length > 0) filled.push(table)
    }
    return { name, tables, filled }
  }

  async #copy(): Promise<string> {
    this.#template ??= this.#migrateTemplate()
    const { name: from, tables, filled } = await this.#template
    const to = await this.#create(String(this.#made.length))
    await this.#each(tables, 'CREATE TABLE ??.?? LIKE ??.??', (table) => [to, table, from, table])
    await this.#each(filled, 'INSERT INTO ??.?? SELECT * FROM ??.??', (table) => [to, table, from, table])
    return to
  }
}
