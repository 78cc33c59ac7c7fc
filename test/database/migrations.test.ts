import { expect, it } from 'vitest'
import type { Executor } from '../../src/database/database.ts'
import { applyMigrations, OtherKeyspace, readMissing } from '../../src/database/migrations.ts'
import { freshDatabase } from '../harness/database.ts'

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
  await expect(readMissing(elsewhere)).rejects.toThrow(OtherKeyspace)
  await expect(applyMigrations(elsewhere)).rejects.toThrow(/names their keyspace/)
  expect(sent.filter((sql) => !sql.startsWith('SELECT'))).toEqual([])
})
