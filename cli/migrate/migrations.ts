import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { mysqlSplitterOptions, splitQuery } from 'dbgate-query-splitter'
import { MigrationError, Umzug } from 'umzug'
import { connectDatabase, type DatabaseConnection, hasErrorNumber } from '../database-connection.ts'
import { configuredIntegerTypes, moveIntegerTypes } from './integer-types.ts'
import { missingVSchema } from './vschema.ts'

/** The folder of this version's migrations. */
export const MIGRATIONS = resolve(import.meta.dirname, '../../migrations')

const CONFIGURATION = resolve(import.meta.dirname, '../../wrangler.toml')

/** Which migrations to apply, and to which database. */
export interface MigrationOptions {
  /** `https://…` or `http://…` (HTTP API), or `mysql://…` with the database in its path. */
  databaseUrl: string
  folder?: string
  /** The record types of the types with integer keys. Default: those of wrangler.toml. */
  integerTypes?: readonly number[]
  say: (line: string) => void
}

/**
 * Errors of an ALTER TABLE that has been done already, by an earlier attempt or an earlier migration: the column exists (1060),
 * or the index does (1061). MySQL has no IF NOT EXISTS for these.
 */
const ALREADY_DONE = [1060, 1061]

/** A migration failed. The message says at which statement and what to do. */
export class MigrationStopped extends Error {}

/** Umzug's storage: a table in the database records which migrations have been applied. */
function migrationRecord(connection: DatabaseConnection) {
  return {
    /** Creates the table, but only if it is missing: PlanetScale's safe migrations refuse even IF NOT EXISTS. */
    async prepare(): Promise<void> {
      try {
        await connection.execute('SELECT name FROM schema_migrations LIMIT 1')
      } catch (error) {
        if (!isMissingTable(error)) throw error
        await connection.execute(
          `CREATE TABLE IF NOT EXISTS schema_migrations (
             name VARCHAR(191) NOT NULL PRIMARY KEY,
             applied_at DATETIME NOT NULL COMMENT 'UTC'
           )`,
        )
      }
    },
    async executed(): Promise<string[]> {
      try {
        const rows = await connection.execute('SELECT name FROM schema_migrations ORDER BY name')
        return rows.map(({ name }) => String(name))
      } catch (error) {
        if (!isMissingTable(error)) throw error
        return []
      }
    },
    async logMigration({ name }: { name: string }): Promise<void> {
      await connection.execute('INSERT IGNORE INTO schema_migrations (name, applied_at) VALUES (?, UTC_TIMESTAMP())', [
        name,
      ])
    },
    async unlogMigration({ name }: { name: string }): Promise<void> {
      await connection.execute('DELETE FROM schema_migrations WHERE name = ?', [name])
    },
  }
}

function umzug(connection: DatabaseConnection, folder: string, say: (line: string) => void) {
  return new Umzug({
    migrations: {
      glob: ['[0-9]*.sql', { cwd: folder }],
      resolve: ({ name, path }) => ({
        name,
        up: async () => {
          const statements = splitQuery(await readFile(path!, 'utf8'), mysqlSplitterOptions).map(String)
          for (const [index, statement] of statements.entries()) {
            try {
              await connection.execute(statement)
            } catch (error) {
              if (ALREADY_DONE.some((number) => hasErrorNumber(error, number))) continue
              throw new MigrationStopped(stopMessage(name, index, statements.length, statement, error))
            }
          }
          say(`  applied ${name}`)
        },
      }),
    },
    storage: migrationRecord(connection),
    logger: undefined,
  })
}

/**
 * Applies the pending migrations in the order of their names. Then moves counters with integer keys, if any are left from before
 * migration 0010.
 *
 * @returns the names of the migrations that were applied
 * @throws {MigrationStopped} at the first statement that fails
 */
export async function migrate(options: MigrationOptions): Promise<string[]> {
  const { databaseUrl, folder = MIGRATIONS, integerTypes = configuredIntegerTypes(CONFIGURATION), say } = options
  return withUmzug(databaseUrl, folder, say, async (migrations, connection) => {
    const missing = await missingVSchema(connection)
    if (missing !== null) throw new MigrationStopped(missing)
    await migrationRecord(connection).prepare()
    const applied = (await migrations.up()).map(({ name }) => name)
    await moveIntegerTypes(connection, integerTypes, say)
    return applied
  })
}

/** The names of the migrations that have been applied and of those that are pending. Changes nothing. */
export async function migrationStatus({ databaseUrl, folder = MIGRATIONS, say }: MigrationOptions) {
  return withUmzug(databaseUrl, folder, say, async (migrations) => ({
    applied: (await migrations.executed()).map(({ name }) => name),
    pending: (await migrations.pending()).map(({ name }) => name),
  }))
}

/**
 * Records the pending migrations as applied without running them, for a branch whose tables came with a deploy request.
 *
 * @returns the names of the migrations that were recorded
 */
export async function markApplied({ databaseUrl, folder = MIGRATIONS, say }: MigrationOptions): Promise<string[]> {
  return withUmzug(databaseUrl, folder, say, async (migrations, connection) => {
    await migrationRecord(connection).prepare()
    const pending = (await migrations.pending()).map(({ name }) => name)
    for (const name of pending) await migrationRecord(connection).logMigration({ name })
    return pending
  })
}

async function withUmzug<T>(
  databaseUrl: string,
  folder: string,
  say: (line: string) => void,
  work: (migrations: ReturnType<typeof umzug>, connection: DatabaseConnection) => Promise<T>,
): Promise<T> {
  const connection = await connectDatabase(databaseUrl)
  try {
    return await work(umzug(connection, folder, say), connection)
  } catch (error) {
    if (error instanceof MigrationError && error.cause instanceof MigrationStopped) throw error.cause
    throw error
  } finally {
    await connection.close()
  }
}

function stopMessage(name: string, index: number, count: number, statement: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  const advice = /direct DDL is disabled|safe migrations/i.test(reason)
    ? 'This branch has safe migrations on: apply the migrations to a development branch and open a deploy request (see docs/deploy.md).'
    : 'Fix the cause and run the same command again. It skips earlier migrations; the statements of this one may be repeated.'
  return (
    `${join('migrations', name)} stopped at statement ${index + 1} of ${count}. The statements before it were applied.\n` +
    `  statement: ${statement.replace(/--.*$/gm, '').trim().split('\n')[0]}\n  error:     ${reason}\n${advice}`
  )
}

function isMissingTable(error: unknown): boolean {
  return hasErrorNumber(error, 1146)
}
