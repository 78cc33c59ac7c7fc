import { DatabaseError } from '@planetscale/database'
import type { Executor } from '../../src/database/database.ts'
import { classify } from '../../src/database/errors.ts'
import {
  type Migration,
  MigrationStopped,
  makeTables,
  readPending,
  recordVersion,
} from '../../src/database/migrations.ts'
import { connectDatabase } from '../database-connection.ts'
import { readMigrations } from './migrations-folder.ts'

/** Which migrations to apply, and to which database. */
export interface MigrationOptions {
  /** `https://…` or `http://…` (HTTP API), or `mysql://…` with the database in its path. */
  databaseUrl: string
  /** Default: this version's. */
  migrations?: readonly Migration[]
}

/** The command cannot go on. The message says why and what to do. */
export class MigrationRefused extends Error {}

/**
 * Applies the pending migrations in the order of their names: all of them if a table is missing.
 * @returns the names of the migrations that were applied
 * @throws {MigrationRefused} at the first statement that fails
 */
export async function migrate(options: MigrationOptions): Promise<string[]> {
  return withDatabase(options, (db, migrations) => makeTables(db, migrations))
}

/** The names of the migrations that have been applied and of those that are to be applied. Changes nothing. */
export async function migrationStatus(options: MigrationOptions) {
  return withDatabase(options, async (db, migrations) => {
    const { pending } = await readPending(db, migrations)
    const names = (of: readonly Migration[]) => of.map(({ name }) => name)
    return { applied: names(migrations.filter((migration) => !pending.includes(migration))), pending: names(pending) }
  })
}

/**
 * Records the pending migrations as applied without running them, for a branch whose tables came with a deploy request.
 * @returns the names of the migrations that were recorded
 * @throws {MigrationRefused} if a table is not there
 */
export async function markApplied(options: MigrationOptions): Promise<string[]> {
  return withDatabase(options, async (db, migrations) => {
    const { pending } = await readPending(db, migrations)
    if (pending.length > 0) await recordVersion(db, migrations)
    return pending.map(({ name }) => name)
  })
}

async function withDatabase<T>(
  { databaseUrl, migrations }: MigrationOptions,
  work: (db: Executor, migrations: readonly Migration[]) => Promise<T>,
): Promise<T> {
  const connection = await connectDatabase(databaseUrl)
  try {
    const execute = async (sql: string, args: readonly unknown[] = []) => {
      const rows = await connection.execute(sql, [...args]).catch(rethrow)
      return { rows, rowsAffected: 0 }
    }
    return await work({ execute }, migrations ?? (await readMigrations()))
  } catch (error) {
    throw error instanceof MigrationStopped ? new MigrationRefused(stopMessage(error)) : error
  } finally {
    await connection.close()
  }
}

/** Tells missing tables from other errors, which stay as they are. */
function rethrow(error: unknown): never {
  const { message, errno, sqlState } = error as Error & { errno?: number; sqlState?: string }
  const text = errno === undefined ? message : `${message} (errno ${errno}) (sqlstate ${sqlState})`
  const failure = classify(error instanceof DatabaseError ? error : new DatabaseError(text, 400, { code: '', message }))
  throw failure.kind === 'schema' ? failure : error
}

function stopMessage({ message, cause, needsDeployRequest }: MigrationStopped): string {
  if (cause === undefined) return message
  const advice = needsDeployRequest
    ? 'This branch has safe migrations on: apply the migrations to a development branch and open a deploy request (see docs/deploy.md).'
    : 'Fix the cause and run the same command again. The statements are safe to repeat.'
  return `${message}. The statements before it were applied.\n  error: ${(cause as Error).message}\n${advice}`
}
