import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { mysqlSplitterOptions, splitQuery } from 'dbgate-query-splitter'
import type { Migration } from '../src/database/migrations.ts'

/** The folder of this version's migrations. */
const MIGRATIONS_FOLDER = resolve(import.meta.dirname, '../migrations')

const BUNDLED = resolve(import.meta.dirname, '../src/database/migrations.json')

/** Reads a folder's migrations in the order of their names: their statements, without comments. */
export async function readMigrations(folder: string = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d.*\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = (await readFile(join(folder, name), 'utf8')).replace(/^\s*--.*\n/gm, '')
      return { name, statements: splitQuery(sql, mysqlSplitterOptions).map(String) }
    }),
  )
}

/** Reads the migrations as they are committed for the Worker and the commands. */
export async function readBundledMigrations(): Promise<Migration[]> {
  return JSON.parse(await readFile(BUNDLED, 'utf8')) as Migration[]
}

/** Writes the migrations for the Worker and the commands, to be committed. */
export async function writeMigrations(): Promise<Migration[]> {
  const migrations = await readMigrations()
  await writeFile(BUNDLED, `${JSON.stringify(migrations, null, 2)}\n`)
  return migrations
}
