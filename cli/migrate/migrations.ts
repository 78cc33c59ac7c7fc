import { join } from 'node:path'
import type { Executor } from '../../src/database/database.ts'
import {
  applyMigrations,
  type Migration,
  MigrationStopped,
  missingSharding,
  OtherKeyspace,
  RECORD,
  readMissing,
  readProgress,
} from '../../src/database/migrations.ts'
import { NOT_STRICT, readServerIdentity } from '../../src/database/server-statistics.ts'
import { connectDatabase } from '../database-connection.ts'
import { readMigrations } from './migrations-folder.ts'

/** Which migrations to apply, and to which database. */
export interface MigrationOptions {
  /** `https://…` or `http://…` (HTTP API), or `mysql://…` with the database in its path. */
  databaseUrl: string
  /** Default: this version's. */
  migrations?: readonly Migration[]
  say: (line: string) => void
}

/** The command cannot go on. The message says why and what to do. */
export class MigrationRefused extends Error {}

/**
 * Applies the pending migrations in the order of their names.
 *
 * @returns the names of the migrations that were applied
 * @throws {MigrationRefused} at the first statement that fails
 */
export async function migrate(options: MigrationOptions): Promise<string[]> {
  return withDatabase(options, async (db, migrations) => {
    const sharding = await missingSharding(db, null)
    if (sharding !== null) throw new MigrationRefused(sharding)
    if (!(await readServerIdentity(db)).strict) throw new MigrationRefused(NOT_STRICT)
    const applied = await applyMigrations(db, migrations, (name) => options.say(`  applied ${name}`))
    const missing = await readMissing(db, migrations)
    if (missing.length > 0)
      throw new MigrationRefused(`${lacks(missing)} Another program may have tables of this name.`)
    return applied
  })
}

/** The names of the migrations that have been applied and of those that are pending. Changes nothing. */
export async function migrationStatus(options: MigrationOptions) {
  return withDatabase(options, async (db, migrations) => {
    const { applied, pending } = await readProgress(db, migrations)
    return { applied: [...applied].sort(), pending: pending.map(({ name }) => name) }
  })
}

/**
 * Records the pending migrations as applied without running them, for a branch whose tables came with a deploy request.
 *
 * @returns the names of the migrations that were recorded
 * @throws {MigrationRefused} if a table, a column or an index is not there
 */
export async function markApplied(options: MigrationOptions): Promise<string[]> {
  return withDatabase(options, async (db, migrations) => {
    const { missing, pending } = await readProgress(db, migrations)
    const recorded = pending.map(({ name }) => ({ name, statements: [] }))
    if (missing.length === 0) return applyMigrations(db, recorded)
    throw new MigrationRefused(
      `${lacks(missing)} Nothing was recorded. Has the deploy request been deployed, and is this the branch that it went to?`,
    )
  })
}

function lacks(missing: readonly string[]): string {
  return `The database lacks: ${missing.join(', ')}.`
}

async function withDatabase<T>(
  { databaseUrl, migrations }: MigrationOptions,
  work: (db: Executor, migrations: readonly Migration[]) => Promise<T>,
): Promise<T> {
  const connection = await connectDatabase(databaseUrl)
  try {
    const execute = async (sql: string, args: readonly unknown[] = []) => {
      return { rows: await connection.execute(sql, [...args]), rowsAffected: 0 }
    }
    return await work({ execute }, migrations ?? (await readMigrations()))
  } catch (error) {
    if (error instanceof OtherKeyspace) throw new MigrationRefused(error.message)
    throw error instanceof MigrationStopped ? new MigrationRefused(stopMessage(error)) : error
  } finally {
    await connection.close()
  }
}

function stopMessage({ migration, number, of, statement, message, needsDeployRequest }: MigrationStopped): string {
  const where = migration === RECORD ? `The record of migrations (${RECORD})` : join('migrations', migration)
  const advice = needsDeployRequest
    ? 'This branch has safe migrations on: apply the migrations to a development branch and open a deploy request (see docs/deploy.md).'
    : 'Fix the cause and run the same command again. It skips earlier migrations; the statements of this one may be repeated.'
  return (
    `${where} stopped at statement ${number} of ${of}. The statements before it were applied.\n` +
    `  statement: ${statement}\n  error:     ${message}\n${advice}`
  )
}
