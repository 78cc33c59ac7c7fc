import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Migration } from '../../src/database/migrations.ts'

/** This version's migrations, in a clone and in the package: beside package.json. */
const FOLDER = join(dirname(createRequire(import.meta.url).resolve('slotted-counter/package.json')), 'migrations')

/** Reads the migrations in the order of their names: their statements, without comments. Each statement ends at the end of a line. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^\d.*\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = (await readFile(join(FOLDER, name), 'utf8')).replace(/^\s*--.*\n| -- .*$/gm, '')
      return { name, statements: sql.split(/;\s*$/m).flatMap((statement) => statement.trim() || []) }
    }),
  )
}
