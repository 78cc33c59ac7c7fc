import { Client } from '@planetscale/database'
import { expect, it } from 'vitest'
import { migrate } from '../../../cli/migrate/migrations.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { madeBy, readProgress, statementsToDeploy } from '../../../src/database/migrations.ts'
import { MIGRATIONS } from '../../../src/generated.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'

it('Each table, column and index that migrations make is missed if it is not there', async () => {
  const { databaseUrl } = await takeDatabase({ empty: true })
  await migrate({ databaseUrl, say: () => {} })
  const { rows } = await new Client({ url: databaseUrl }).execute(
    `SELECT CONCAT('column ', TABLE_NAME, '.', COLUMN_NAME) AS thing FROM information_schema.COLUMNS
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'slotted_counter_migrations'
     UNION SELECT CONCAT('index ', TABLE_NAME, '.', INDEX_NAME) FROM information_schema.STATISTICS
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'slotted_counter_migrations' AND INDEX_NAME <> 'PRIMARY'
     UNION SELECT CONCAT('table ', TABLE_NAME) FROM information_schema.TABLES
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'slotted_counter_migrations'`,
  )
  const known = MIGRATIONS.flatMap(({ statements }) => statements).flatMap(madeBy)
  const actual = (rows as { thing: string }[]).map(({ thing }) => thing)
  expect(actual.length).toBeGreaterThan(70)
  expect([...new Set(known)].sort()).toEqual(actual.sort())
})

it('The statements for a deploy request make all tables', async () => {
  const { databaseUrl } = await takeDatabase({ empty: true })
  const client = new Client({ url: databaseUrl })
  for (const sql of statementsToDeploy({ there: new Set(), pending: [...MIGRATIONS] })) await client.execute(sql)
  const { missing } = await readProgress(openDatabase({ url: databaseUrl, deadlineMs: 10_000 }), MIGRATIONS)
  expect(missing).toEqual([])
})
