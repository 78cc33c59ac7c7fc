import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { migrate } from '../../../cli/migrate/migrations.ts'
import { PlanetScaleEndpoint } from '../../../local/planetscale/endpoint.ts'
import type { TestDatabases } from './test-databases.ts'

/** A migrated database from which others are copied, which is several times faster than migrating each. */
interface Template {
  name: string
  tables: string[]
  /** The tables in which migrations have left rows. */
  filled: string[]
}

/** Databases on MySQL and MariaDB: each test gets one that is made for it. All are removed at the end. */
export class CreatedDatabases implements TestDatabases {
  readonly description: string
  readonly ranges = 1
  readonly #connection: Connection
  readonly #endpoint: PlanetScaleEndpoint
  readonly #run = `${process.pid}_${Date.now().toString(36)}`
  readonly #made: string[] = []
  #template: Promise<Template> | undefined

  private constructor(description: string, connection: Connection, endpoint: PlanetScaleEndpoint) {
    this.description = description
    this.#connection = connection
    this.#endpoint = endpoint
  }

  static async open(mysqlUrl: string, description: string): Promise<CreatedDatabases> {
    const endpoint = new PlanetScaleEndpoint({ mysqlUrl, password: 'test' })
    await endpoint.listen()
    return new CreatedDatabases(description, await mysql.createConnection({ uri: mysqlUrl }), endpoint)
  }

  async take({ migrated }: { migrated: boolean }): Promise<{ name: string; databaseUrl: string }> {
    const name = await this.#create(String(this.#made.length))
    if (migrated) {
      this.#template ??= this.#migrateTemplate()
      await this.#copyTables(await this.#template, name)
    }
    return { name, databaseUrl: this.#endpoint.urlOf(name) }
  }

  /** Does nothing: no other test gets it. */
  async giveBack(): Promise<void> {}

  async close(): Promise<void> {
    await this.#endpoint.close()
    for (const name of this.#made) await this.#connection.query('DROP DATABASE IF EXISTS ??', [name])
    await this.#connection.end()
  }

  async #create(suffix: string): Promise<string> {
    const name = `slotted_test_${this.#run}_${suffix}`
    this.#made.push(name)
    await this.#connection.query('CREATE DATABASE ??', [name])
    return name
  }

  async #migrateTemplate(): Promise<Template> {
    const name = await this.#create('template')
    await migrate({ databaseUrl: this.#endpoint.urlOf(name), say: () => {} })
    const [rows] = await this.#connection.query<RowDataPacket[]>('SHOW TABLES FROM ??', [name])
    const tables = rows.map((row) => String(Object.values(row)[0]))
    const filled: string[] = []
    for (const table of tables) {
      const [found] = await this.#connection.query<RowDataPacket[]>('SELECT 1 FROM ??.?? LIMIT 1', [name, table])
      if (found.length > 0) filled.push(table)
    }
    return { name, tables, filled }
  }

  async #copyTables({ name: from, tables, filled }: Template, to: string): Promise<void> {
    for (const table of tables) {
      await this.#connection.query('CREATE TABLE ??.?? LIKE ??.??', [to, table, from, table])
    }
    for (const table of filled) {
      await this.#connection.query('INSERT INTO ??.?? SELECT * FROM ??.??', [to, table, from, table])
    }
  }
}
