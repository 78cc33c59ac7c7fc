import { Client } from '@planetscale/database'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { MigrationRefused, markApplied, migrate, migrationStatus } from '../../../cli/migrate/migrations.ts'
import type { Behaviour } from '../../../local/planetscale/fault-injection.ts'
import { MIXED_TYPES, recordIdOf } from '../../../src/counters/integer-key.ts'
import { MIGRATIONS, type Migration, statementsToDeploy } from '../../../src/database/migrations.ts'

const say = () => {}
let databaseUrl: string
let client: Client
beforeEach(async () => {
  const response = await fetch(inject('databases'), { method: 'POST' })
  ;({ databaseUrl } = (await response.json()) as { databaseUrl: string })
  client = new Client({ url: databaseUrl })
})
/** The names of all migrations, in order. */
const migrationNames = MIGRATIONS.map(({ name }) => name)
/** Makes the endpoint behave differently for this test's database. */
async function behave(behaviour: Partial<Behaviour>): Promise<void> {
  const { username, password, origin } = new URL(databaseUrl)
  const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}`, 'Content-Type': 'application/json' }
  await fetch(`${origin}/local/behaviour`, { method: 'PUT', headers, body: JSON.stringify(behaviour) })
}

const tables = async () => {
  const { rows } = await client.execute('SHOW TABLES', null, { as: 'array' })
  return (rows as string[][]).flat().sort()
}

/** Those since ranges. */
const newerMigrations = migrationNames.filter((name) => name >= '0010')

/** Creates the tables as they were before ranges, with a roll-up's state and a type's history. */
async function createOldTables(): Promise<void> {
  const old = `CREATE TABLE IF NOT EXISTS type_history (record_type SMALLINT UNSIGNED NOT NULL, period TINYINT UNSIGNED NOT NULL,
       period_start DATETIME NOT NULL, count DECIMAL(30, 0) NOT NULL, PRIMARY KEY (record_type, period, period_start))`
  const migrations = MIGRATIONS.filter(({ name }) => !newerMigrations.includes(name)).map((migration) =>
    migration.name.startsWith('0007') ? { ...migration, statements: [old] } : migration,
  )
  await migrate({ databaseUrl, migrations, integerTypes: [], say })
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
    expect(await migrate({ databaseUrl, integerTypes: [], say })).toEqual(newerMigrations)
    expect(await all('SELECT range_start, holder, cursor_slot FROM rollup_state')).toEqual([
      { range_start: '0', holder: '7', cursor_slot: '3' },
    ])
    const sums = 'SELECT record_type, period, range_lane, count FROM type_history ORDER BY record_type, period'
    expect(await all(sums)).toEqual([
      { record_type: 1, period: expect.anything(), range_lane: '0', count: '2' },
      { record_type: 9, period: expect.anything(), range_lane: '0', count: '30' },
      // The sum of adjustments: the only one is an import that went into the history.
      { record_type: 9, period: 4, range_lane: '0', count: '0' },
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
    expect(await all(`SELECT count FROM type_history WHERE record_type = ${type} AND period < 4`)).toEqual([
      { count: '30' },
    ])
    const last = recordIdOf(2n ** 64n - 1n)
    expect(await all(`SELECT count FROM slotted_counters WHERE record_id = ${last}`)).toEqual([{ count: '1' }])
    for (const table of ['slotted_counters', 'counter_totals', 'counter_history', 'counter_periods', 'type_history']) {
      expect(await all(`SELECT 1 FROM ${table} WHERE record_type = 9`)).toEqual([])
    }
  })
})

describe('Migrations', () => {
  it('are applied once, in order, and a second run does nothing', async () => {
    const names = migrationNames
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
      'prefix_builds',
      'prefix_history',
      'rollup_state',
      'slotted_counter_migrations',
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
    expect(await migrate({ databaseUrl: url.href, say })).toHaveLength(migrationNames.length)
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })

  it('are applied once by two runs at the same time', async () => {
    await Promise.all([migrate({ databaseUrl, say }), migrate({ databaseUrl, say })])
    const { rows } = await client.execute('SELECT COUNT(*) AS n FROM slotted_counter_migrations')
    expect(rows).toEqual([{ n: String(migrationNames.length) }])
  })

  it('that fail report the statement and what to do, and continue from there once the cause is fixed', async () => {
    const more = (...statements: string[]): Migration[] => [
      ...MIGRATIONS,
      { name: '0100_more.sql', statements },
      { name: '0101_never.sql', statements: ['CREATE TABLE IF NOT EXISTS never (a INT)'] },
    ]
    const [first, third] = ['first', 'third'].map((name) => `CREATE TABLE IF NOT EXISTS ${name} (a INT)`)
    const failing = more(first!, 'CREATE TABLE IF NOT EXISTS second (a NONSENSE)', third!)
    const stopped = migrate({ databaseUrl, migrations: failing, say })
    await expect(stopped).rejects.toThrow(MigrationRefused)
    await expect(stopped).rejects.toThrow(
      /0100_more\.sql stopped at statement 2 of 3.*CREATE TABLE IF NOT EXISTS second.*errno \d+.*run the same command again/s,
    )
    expect(await tables()).toEqual(expect.arrayContaining(['first', 'slotted_counters']))
    expect(await tables()).not.toEqual(expect.arrayContaining(['never']))
    const fixed = more(first!, 'CREATE TABLE IF NOT EXISTS second (a INT)', third!)
    expect(await migrate({ databaseUrl, migrations: fixed, say })).toEqual(['0100_more.sql', '0101_never.sql'])
  })

  it('can be recorded as applied if the tables came with a deploy request', async () => {
    for (const sql of statementsToDeploy({ there: new Set(), pending: [...MIGRATIONS] })) await client.execute(sql)
    await behave({ safeMigrations: true })
    expect(await markApplied({ databaseUrl, say })).toEqual(migrationNames)
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })

  it('that came with a deploy request are recorded by the usual command too', async () => {
    for (const sql of statementsToDeploy({ there: new Set(), pending: [...MIGRATIONS] })) await client.execute(sql)
    await behave({ safeMigrations: true })
    expect(await migrate({ databaseUrl, say })).toEqual(migrationNames)
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })

  it('are not recorded as applied if something is missing, which is named', async () => {
    await expect(markApplied({ databaseUrl, say })).rejects.toThrow(/lacks: table slotted_counters, .*Nothing was/)
    expect(await tables()).toEqual([])
    for (const sql of statementsToDeploy({ there: new Set(), pending: [...MIGRATIONS] })) await client.execute(sql)
    await client.execute('ALTER TABLE counter_totals DROP KEY ranking')
    await client.execute('ALTER TABLE rollup_state DROP COLUMN stopped_by')
    await client.execute('ALTER TABLE counter_names DROP KEY name')
    await client.execute('DROP TABLE counter_transfers')
    await expect(markApplied({ databaseUrl, say })).rejects.toThrow(
      'The database lacks: index counter_totals.ranking, index counter_names.name, column rollup_state.stopped_by, table counter_transfers. Nothing',
    )
    expect(await migrationStatus({ databaseUrl, say })).toEqual({ applied: [], pending: migrationNames })
  })

  it('that a branch with safe migrations refuses point to a deploy request', async () => {
    await behave({ safeMigrations: true })
    await expect(migrate({ databaseUrl, say })).rejects.toThrow(/direct DDL is disabled.*deploy request/s)
    expect(await tables()).toEqual([])
  })
})

describe('An installation whose record had its old name', () => {
  const rename = () => client.execute('RENAME TABLE slotted_counter_migrations TO schema_migrations')
  const rows = async (table: string) => (await client.execute(`SELECT name FROM ${table} ORDER BY name`)).rows

  it('goes on without doing anything, and the old record stays', async () => {
    await migrate({ databaseUrl, say })
    await rename()
    expect(await migrationStatus({ databaseUrl, say })).toEqual({ applied: migrationNames, pending: [] })
    expect(await migrate({ databaseUrl, say })).toEqual([])
    expect(await rows('slotted_counter_migrations')).toHaveLength(migrationNames.length)
    expect(await rows('schema_migrations')).toHaveLength(migrationNames.length)
  })

  it('goes on with safe migrations too, without its new record', async () => {
    await migrate({ databaseUrl, say })
    await rename()
    await behave({ safeMigrations: true })
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })

  it('gets what is newer than its record', async () => {
    await createOldTables()
    await rename()
    expect(await migrate({ databaseUrl, integerTypes: [], say })).toEqual(newerMigrations)
  })

  it('gets what its record has, but the database has not', async () => {
    await migrate({ databaseUrl, say })
    await rename()
    await client.execute('DROP TABLE counter_transfers')
    expect(await migrate({ databaseUrl, say })).toEqual(['0014_transfers.sql'])
  })

  it.each([
    'CREATE TABLE schema_migrations (version VARCHAR(191) NOT NULL PRIMARY KEY)',
    'CREATE TABLE schema_migrations (name BIGINT NOT NULL PRIMARY KEY)',
    'CREATE TABLE schema_migrations (name VARCHAR(191) NOT NULL PRIMARY KEY, dirty TINYINT NOT NULL)',
  ])('shares its database with the record of another program: %s', async (sql) => {
    await client.execute(sql)
    const values = sql.includes('dirty') ? `('0001_slotted_counters.sql', 1), ('0001_users', 0)` : '(1), (20260101)'
    await client.execute(`INSERT INTO schema_migrations VALUES ${values}`)
    expect(await migrate({ databaseUrl, say })).toEqual(migrationNames)
    expect((await client.execute('SELECT * FROM schema_migrations')).rows).toHaveLength(2)
  })
})

it('A table of another program under the name of one of ours is reported', async () => {
  await client.execute('CREATE TABLE counter_names (id INT NOT NULL PRIMARY KEY)')
  await expect(migrate({ databaseUrl, say })).rejects.toThrow(/counter_names/)
})
