import { expect, it } from 'vitest'
import type { Executor } from '../../src/database/database.ts'
import { MigrationStopped, makeTables, readTables, recordVersion } from '../../src/database/migrations.ts'
import { MIGRATIONS, TABLES } from '../../src/generated.ts'
import { emptyDatabase, freshDatabase } from '../harness/database.ts'
import { onVitess } from '../harness/on-vitess.ts'

const LATER = [...MIGRATIONS, { name: '0100_more.sql', statements: ['CREATE TABLE IF NOT EXISTS more (id INT)'] }]

it('Every table that migrations make has its shard key, and so is looked for', async () => {
  const { rows } = await (await freshDatabase()).execute('SHOW TABLES')
  expect(rows.map((row) => Object.values(row)[0]).toSorted()).toEqual(TABLES.toSorted())
})

it('A migration is pending while the version is older than its number, and not once it is newer', async () => {
  const db = await freshDatabase()
  expect((await readTables(db, LATER)).pending).toEqual(LATER.slice(-1))
  const { madeAt } = await readTables(db)
  await recordVersion(db, LATER)
  expect((await readTables(db, LATER)).pending).toEqual([])
  // An older version of the code changes nothing, even if it was asked at once.
  await recordVersion(db)
  expect(await readTables(db, LATER)).toEqual({ pending: [], madeAt })
})

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
  expect(await makeTables(elsewhere)).toEqual([])
  await expect(makeTables(elsewhere, LATER)).rejects.toThrow(/names their keyspace/)
  await db.execute('DROP TABLE visitor_salts')
  await expect(makeTables(elsewhere)).rejects.toThrow(/names their keyspace/)
  expect(sent.filter((sql) => !/^(SELECT|SHOW)/.test(sql))).toEqual([])
})

it('Tables that another run makes while this one looks are not taken for those of another keyspace', async () => {
  const db = await emptyDatabase()
  let looked = false
  const beside: Executor = {
    async execute(sql, args) {
      const found = db.execute(sql, args)
      await found.catch(() => {})
      if (!looked && sql.includes('FROM slotted_counters')) {
        looked = true
        await makeTables(db)
      }
      return found
    },
  }
  expect(await makeTables(beside)).toEqual(MIGRATIONS.map(({ name }) => name))
  expect(looked).toBe(true)
})

it('Without a VSchema, the tables are made on all shards, and the version is recorded once it is there', async () => {
  const db = await emptyDatabase()
  const sent: string[] = []
  // What vtgate says while the VSchema names no table.
  const bare: Executor = {
    async execute(sql, args) {
      sent.push(sql)
      if (sql === 'SHOW VSCHEMA TABLES') return { rows: [], rowsAffected: 0 }
      if (sql !== 'SHOW VITESS_SHARDS') return db.execute(sql, args)
      const [row] = (await db.execute('SELECT DATABASE() AS name')).rows
      return { rows: ['-80', '80-'].map((shard) => ({ shard: `${row!.name}/${shard}` })), rowsAffected: 0 }
    },
  }
  await expect(makeTables(bare)).rejects.toThrow(/apply migrations\/vschema.json/)
  expect(sent.filter((sql) => sql.startsWith('INSERT'))).toEqual([])
  expect((await db.execute('SHOW TABLES')).rows).toHaveLength(TABLES.length)
  expect(await makeTables(db)).toEqual(MIGRATIONS.map(({ name }) => name))
  expect((await readTables(db)).pending).toEqual([])
})

// On shards, the VSchema would have to know the new table.
it.skipIf(onVitess)('An added column is not taken for deployed because all tables are there', async () => {
  const db = await freshDatabase()
  const statements = ['ALTER TABLE counters ADD COLUMN more INT NULL']
  const wider = [...MIGRATIONS, { name: '0100_wider.sql', statements }]
  await db.behave({ safeMigrations: true })
  await expect(makeTables(db, wider)).rejects.toThrow(MigrationStopped)
  expect((await readTables(db, wider)).pending).toHaveLength(1)
})
