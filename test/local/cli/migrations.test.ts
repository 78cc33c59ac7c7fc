import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@planetscale/database'
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { MIGRATIONS, MigrationStopped, markApplied, migrate, migrationStatus } from '../../../cli/migrate/migrations.ts'
import { MIXED_TYPES, recordIdOf } from '../../../src/counters/integer-key.ts'

const say = () => {}
let databaseUrl: string
let client: Client
beforeEach(async () => {
  const response = await fetch(inject('databases'), { method: 'POST' })
  ;({ databaseUrl } = (await response.json()) as { databaseUrl: string })
  client = new Client({ url: databaseUrl })
})
/** The names of all migrations, in order. */
const migrationNames = async () => (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort()
const tables = async () => {
  const { rows } = await client.execute('SHOW TABLES', null, { as: 'array' })
  return (rows as string[][]).flat().sort()
}

/** Those since ranges. */
const newerMigrations = async () => (await migrationNames()).filter((name) => name >= '0010')

/** Copies the migrations, so that a test can add to them. */
async function copyOfMigrations(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(MIGRATIONS, folder, { recursive: true })
  return folder
}

/** Creates the tables as they were before ranges, with a roll-up's state and a type's history. */
async function createOldTables(): Promise<void> {
  const folder = await copyOfMigrations()
  for (const name of await newerMigrations()) await rm(join(folder, name))
  await writeFile(
    join(folder, '0007_type_history.sql'),
    `CREATE TABLE type_history (record_type SMALLINT UNSIGNED NOT NULL, period TINYINT UNSIGNED NOT NULL,
       period_start DATETIME NOT NULL, count DECIMAL(30, 0) NOT NULL, PRIMARY KEY (record_type, period, period_start))`,
  )
  await migrate({ databaseUrl, folder, integerTypes: [], say })
}

describe('A database from before ranges', () => {
  const all = async (sql: string) => (await client.execute(sql)).rows
  const KEY = 2n ** 63n + 5n

  beforeEach(async () => {
    await createOldTables()
    for (const sql of [
      `INSERT INTO rollup_state VALUES (1, 7, '2026-01-01', 1, 2, 3, '2026-01-01', NULL)`,
      `INSERT INTO type_history VALUES (9, 1, '2026-01-01', 30), (1, 1, '2026-01-01', 2)`,
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour)
         VALUES (9, 1, 5, 2, 3, 0), (9, 18446744073709551615, 6, 1, 3, 0), (1, 1, ${KEY}, 4, ${KEY}, 77)`,
      `INSERT INTO counter_totals VALUES (9, 1, 30, 4, NULL), (1, 1, 2, 1, NULL)`,
      `INSERT INTO counter_history VALUES (9, 1, '2026-01-01', 30), (1, 1, '2026-01-01', 2)`,
      `INSERT INTO counter_periods VALUES (9, 1, 1, '2026-01-01', 30), (1, 1, 1, '2026-01-01', 2)`,
      `INSERT INTO counter_adjustments VALUES (9, 1, 8, 1, '2026-01-01', 0)`,
    ]) {
      await client.execute(sql)
    }
  })

  it('keeps its state and history', async () => {
    expect(await migrate({ databaseUrl, integerTypes: [], say })).toEqual(await newerMigrations())
    expect(await all('SELECT range_start, holder, cursor_slot FROM rollup_state')).toEqual([
      { range_start: '0', holder: '7', cursor_slot: '3' },
    ])
    expect(await all('SELECT record_type, range_lane, count FROM type_history ORDER BY record_type')).toEqual([
      { record_type: 1, range_lane: '0', count: '2' },
      { record_type: 9, range_lane: '0', count: '30' },
    ])
  })

  it('still recognizes increments whose keys had 64 bits', async () => {
    await migrate({ databaseUrl, integerTypes: [], say })
    const rows = await all(
      'SELECT slot, batch, count, written_hour FROM slotted_counters WHERE record_type = 1 ORDER BY slot',
    )
    expect(rows).toEqual([
      { slot: '5', batch: '5', count: '0', written_hour: 77 },
      { slot: `${KEY}`, batch: `${KEY}`, count: '4', written_hour: 77 },
    ])
  })

  it('has its integer counters moved to their mixed ids, also those that are counted there already', async () => {
    await migrate({ databaseUrl, integerTypes: [], say })
    const id = recordIdOf(1n)
    const type = 9 + MIXED_TYPES
    // What a new Worker counted before the counters were moved.
    await client.execute(
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES (${type}, ${id}, 9, 1, 1, 0)`,
    )
    await client.execute(
      `INSERT INTO counter_totals (record_type, record_id, count, version) VALUES (${type}, ${id}, 100, 6)`,
    )
    for (let time = 0; time < 2; time++) await migrate({ databaseUrl, integerTypes: [9], say })
    const counter = `WHERE record_type = ${type} AND record_id = ${id}`
    expect(await all(`SELECT count, version, number FROM counter_totals ${counter}`)).toEqual([
      { count: '130', version: '11', number: '1' },
    ])
    expect(await all(`SELECT SUM(count) AS count FROM slotted_counters ${counter}`)).toEqual([{ count: '3' }])
    expect(await all(`SELECT count FROM counter_history ${counter}`)).toEqual([{ count: '30' }])
    expect(await all(`SELECT count FROM counter_periods ${counter}`)).toEqual([{ count: '30' }])
    expect(await all(`SELECT adjustment_id FROM counter_adjustments ${counter}`)).toEqual([{ adjustment_id: '8' }])
    expect(await all(`SELECT count FROM type_history WHERE record_type = ${type}`)).toEqual([{ count: '30' }])
    const last = recordIdOf(2n ** 64n - 1n)
    expect(await all(`SELECT count FROM slotted_counters WHERE record_id = ${last}`)).toEqual([{ count: '1' }])
    for (const table of ['slotted_counters', 'counter_totals', 'counter_history', 'counter_periods', 'type_history']) {
      expect(await all(`SELECT 1 FROM ${table} WHERE record_type = 9`)).toEqual([])
    }
  })
})

describe('Migrations', () => {
  it('are applied once, in order, and a second run does nothing', async () => {
    const names = await migrationNames()
    expect(await migrate({ databaseUrl, say })).toEqual(names)
    expect(await tables()).toEqual([
      'adjustment_keys',
      'background_runs',
      'counter_adjustments',
      'counter_history',
      'counter_names',
      'counter_periods',
      'counter_totals',
      'counter_transfers',
      'new_key_budgets',
      'rollup_state',
      'schema_migrations',
      'slotted_counters',
      'type_history',
      'visitor_salts',
    ])
    expect(await migrate({ databaseUrl, say })).toEqual([])
    expect(await migrationStatus({ databaseUrl, say })).toEqual({ applied: names, pending: [] })
  })

  it('can be listed without changing anything', async () => {
    expect(await migrationStatus({ databaseUrl, say })).toMatchObject({ applied: [] })
    expect(await tables()).toEqual([])
  })

  it('can be applied over the MySQL protocol too', async () => {
    const url = new URL(inject('mysqlUrl'))
    url.pathname = `/${new URL(databaseUrl).username}`
    expect(await migrate({ databaseUrl: url.href, say })).toHaveLength((await migrationNames()).length)
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })

  it('are applied once by two runs at the same time', async () => {
    await Promise.all([migrate({ databaseUrl, say }), migrate({ databaseUrl, say })])
    const { rows } = await client.execute('SELECT COUNT(*) AS n FROM schema_migrations')
    expect(rows).toEqual([{ n: String((await migrationNames()).length) }])
  })

  it('that fail report the statement and what to do, and continue from there once the cause is fixed', async () => {
    const folder = await copyOfMigrations()
    await writeFile(
      join(folder, '0100_more.sql'),
      `-- A comment; with a semicolon.\nCREATE TABLE IF NOT EXISTS first (a INT);\nCREATE TABLE second (a NONSENSE);\nCREATE TABLE third (a INT);`,
    )
    await writeFile(join(folder, '0101_never.sql'), 'CREATE TABLE never (a INT)')
    const stopped = migrate({ databaseUrl, folder, say })
    await expect(stopped).rejects.toThrow(MigrationStopped)
    await expect(stopped).rejects.toThrow(
      /0100_more\.sql stopped at statement 2 of 3.*CREATE TABLE second.*errno \d+.*run the same command again/s,
    )
    expect(await tables()).toEqual(expect.arrayContaining(['first', 'slotted_counters']))
    expect(await tables()).not.toEqual(expect.arrayContaining(['never']))
    await writeFile(
      join(folder, '0100_more.sql'),
      'CREATE TABLE IF NOT EXISTS first (a INT);\nCREATE TABLE second (a INT);\nCREATE TABLE third (a INT);',
    )
    expect(await migrate({ databaseUrl, folder, say })).toEqual(['0100_more.sql', '0101_never.sql'])
  })

  it('that a branch with safe migrations refuses point to a deploy request', async () => {
    const folder = await copyOfMigrations()
    // PlanetScale's refusal cannot be reproduced here. This statement's error has the same words.
    await writeFile(join(folder, '0100_refused.sql'), 'SELECT * FROM `direct DDL is disabled`')
    await expect(migrate({ databaseUrl, folder, say })).rejects.toThrow(/deploy request/)
  })

  it('can be recorded as applied if the tables came with a deploy request', async () => {
    const names = await migrationNames()
    expect(await markApplied({ databaseUrl, say })).toEqual(names)
    expect(await tables()).toEqual(['schema_migrations'])
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })
})
