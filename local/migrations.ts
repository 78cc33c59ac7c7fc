import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { mysqlSplitterOptions, splitQuery } from 'dbgate-query-splitter'
import { MigrationError, Umzug } from 'umzug'
import { type DatabaseTarget, hasNumber, openTarget } from './database-target.ts'

/** The migrations of this version. */
export const MIGRATIONS = resolve(import.meta.dirname, '../migrations')

/** What to do and where. */
export interface MigrationOptions {
  /** `https://…` or `http://…` (HTTP API), or `mysql://…` with the database in its path. */
  databaseUrl: string
  folder?: string
  say: (line: string) => void
}

/** A migration that stopped; the message says where and what to do. */
export class MigrationStopped extends Error {}

/** The record of what has been applied, in the database itself. */
function record(target: DatabaseTarget) {
  return {
    /** Makes the table of records if it is missing; only then, because safe migrations refuse even IF NOT EXISTS. */
    async prepare(): Promise<void> {
      try {
        await target.execute('SELECT name FROM schema_migrations LIMIT 1')
      } catch (error) {
        if (!isMissingTable(error)) throw error
        await target.execute(
          `CREATE TABLE IF NOT EXISTS schema_migrations (
             name VARCHAR(191) NOT NULL PRIMARY KEY,
             applied_at DATETIME NOT NULL COMMENT 'UTC'
           )`,
        )
      }
    },
    async executed(): Promise<string[]> {
      try {
        const rows = await target.execute('SELECT name FROM schema_migrations ORDER BY name')
        return rows.map(({ name }) => String(name))
      } catch (error) {
        if (!isMissingTable(error)) throw error
        return []
      }
    },
    async logMigration({ name }: { name: string }): Promise<void> {
      await target.execute('INSERT IGNORE INTO schema_migrations (name, applied_at) VALUES (?, UTC_TIMESTAMP())', [
        name,
      ])
    },
    async unlogMigration({ name }: { name: string }): Promise<void> {
      await target.execute('DELETE FROM schema_migrations WHERE name = ?', [name])
    },
  }
}

function umzug(target: DatabaseTarget, folder: string, say: (line: string) => void) {
  return new Umzug({
    migrations: {
      glob: ['[0-9]*.sql', { cwd: folder }],
      resolve: ({ name, path }) => ({
        name,
        up: async () => {
          const statements = splitQuery(await readFile(path!, 'utf8'), mysqlSplitterOptions).map(String)
          for (const [index, statement] of statements.entries()) {
            try {
              await target.execute(statement)
            } catch (error) {
              // ADD KEY cannot say IF NOT EXISTS on MySQL; an index of that name is one that an earlier attempt made.
              if (hasNumber(error, 1061)) continue
              throw new MigrationStopped(stopMessage(name, index, statements.length, statement, error))
            }
          }
          say(`  applied ${name}`)
        },
      }),
    },
    storage: record(target),
    logger: undefined,
  })
}

/**
 * Applies the migrations that have not been applied yet, in the order of their names.
 *
 * @returns the names of those applied now
 * @throws {MigrationStopped}
 */
export async function migrate({ databaseUrl, folder = MIGRATIONS, say }: MigrationOptions): Promise<string[]> {
  return withUmzug(databaseUrl, folder, say, async (migrations, target) => {
    await record(target).prepare()
    return (await migrations.up()).map(({ name }) => name)
  })
}

/** Tells which migrations have been applied and which have not. */
export async function migrationStatus({ databaseUrl, folder = MIGRATIONS, say }: MigrationOptions) {
  return withUmzug(databaseUrl, folder, say, async (migrations) => ({
    applied: (await migrations.executed()).map(({ name }) => name),
    pending: (await migrations.pending()).map(({ name }) => name),
  }))
}

/**
 * Records migrations as applied without running them, for a branch whose tables came with a deploy request.
 *
 * @returns the names of those recorded now
 */
export async function markApplied({ databaseUrl, folder = MIGRATIONS, say }: MigrationOptions): Promise<string[]> {
  return withUmzug(databaseUrl, folder, say, async (migrations, target) => {
    await record(target).prepare()
    const pending = (await migrations.pending()).map(({ name }) => name)
    for (const name of pending) await record(target).logMigration({ name })
    return pending
  })
}

async function withUmzug<T>(
  databaseUrl: string,
  folder: string,
  say: (line: string) => void,
  work: (migrations: ReturnType<typeof umzug>, target: DatabaseTarget) => Promise<T>,
): Promise<T> {
  const target = await openTarget(databaseUrl)
  try {
    return await work(umzug(target, folder, say), target)
  } catch (error) {
    if (error instanceof MigrationError && error.cause instanceof MigrationStopped) throw error.cause
    throw error
  } finally {
    await target.close()
  }
}

function stopMessage(name: string, index: number, count: number, statement: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  const advice = /direct DDL is disabled|safe migrations/i.test(reason)
    ? 'This branch has safe migrations on: apply them to a development branch and open a deploy request (see README.md).'
    : 'Correct the cause and run the same command again: earlier migrations are skipped, and the statements of this one ' +
      'may be repeated.'
  return (
    `${join('migrations', name)} stopped at statement ${index + 1} of ${count}; the ones before it were applied.\n` +
    `  statement: ${statement.replace(/--.*$/gm, '').trim().split('\n')[0]}\n  error:     ${reason}\n${advice}`
  )
}

function isMissingTable(error: unknown): boolean {
  return hasNumber(error, 1146)
}
