import { expect, it } from 'vitest'
import type { Executor } from '../../src/database/database.ts'
import { applyMigrations, OtherKeyspace, readMissing } from '../../src/database/migrations.ts'
import { MIGRATIONS } from '../../src/generated.ts'
import { emptyDatabase, freshDatabase } from '../harness/database.ts'

it('A connection whose own keyspace is not that of the tables changes nothing', async () => {
  const db = await freshDatabase()
  const sent: string[] = []
  // As if Vitess had found the tables in another keyspace.
  const elsewhere: Executor = {
    execute(sql, args) {
      sent.push(sql)
      return db.execute(sql.replaceAll('DATABASE()', "'elsewhere'"), args)
    },
  }
  await expect(readMissing(elsewhere, MIGRATIONS)).rejects.toThrow(OtherKeyspace)
  await expect(applyMigrations(elsewhere, MIGRATIONS)).rejects.toThrow(/names their keyspace/)
  expect(sent.filter((sql) => !sql.startsWith('SELECT'))).toEqual([])
})

it('Tables that another run makes while this one looks are not taken for those of another keyspace', async () => {
  const db = await emptyDatabase()
  let looked = false
  const beside: Executor = {
    async execute(sql, args) {
      const found = await db.execute(sql, args)
      if (!looked && sql.includes('information_schema.COLUMNS')) {
        looked = true
        for (const statement of MIGRATIONS[0]!.statements) await db.execute(statement)
      }
      return found
    },
  }
  expect(await readMissing(beside, MIGRATIONS)).not.toContain('table slotted_counters')
})
