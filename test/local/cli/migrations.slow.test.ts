import { Client } from '@planetscale/database'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { MigrationRefused, markApplied, migrate, migrationStatus } from '../../../cli/migrate/migrations.ts'
import type { Migration } from '../../../src/database/migrations.ts'
import { MIGRATIONS } from '../../../src/generated.ts'
import { behave } from '../../harness/behave.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'

let databaseUrl: string
let client: Client
beforeEach(async () => {
  ;({ databaseUrl } = await takeDatabase({ empty: true }))
  client = new Client({ url: databaseUrl })
})
/** The names of all migrations, in order. */
const migrationNames = MIGRATIONS.map(({ name }) => name)
/** Makes all tables, as a deploy request does, on a branch that has safe migrations afterwards. */
async function deployRequest(): Promise<void> {
  for (const sql of MIGRATIONS.flatMap(({ statements }) => statements)) await client.execute(sql)
  await behave(databaseUrl, { safeMigrations: true })
}

const tables = async () => {
  const { rows } = await client.execute('SHOW TABLES', null, { as: 'array' })
  return (rows as string[][]).flat().sort()
}

describe('Migrations', () => {
  it('are applied once, in order, and a second run does nothing', async () => {
    const names = migrationNames
    expect(await migrate({ databaseUrl })).toEqual(names)
    expect(await tables()).toEqual([
      'background_runs',
      'change_keys',
      'counter_adjustments',
      'counter_history',
      'counter_periods',
      'counters',
      'latest_files',
      'new_key_budgets',
      'rollup_state',
      'schema_version',
      'slotted_counters',
      'type_history',
      'visitor_salts',
    ])
    expect(await migrate({ databaseUrl })).toEqual([])
    expect(await migrationStatus({ databaseUrl })).toEqual({ applied: names, pending: [] })
  })

  it('can be listed without changing anything', async () => {
    expect(await migrationStatus({ databaseUrl })).toMatchObject({ applied: [] })
    expect(await tables()).toEqual([])
  })

  it('can be applied over the MySQL protocol too', async () => {
    const url = new URL(inject('mysqlUrl'))
    url.pathname = `/${new URL(databaseUrl).username}`
    expect(await migrate({ databaseUrl: url.href })).toHaveLength(migrationNames.length)
    expect(await migrate({ databaseUrl })).toEqual([])
  })

  it('are applied once by two runs at the same time', async () => {
    await Promise.all([migrate({ databaseUrl }), migrate({ databaseUrl })])
    const { rows } = await client.execute('SELECT id, version FROM schema_version')
    expect(rows).toEqual([{ id: 1, version: Number.parseInt(migrationNames.at(-1)!, 10) }])
  })

  it('that fail report the statement and what to do, and are applied once the cause is fixed', async () => {
    const more = (...statements: string[]): Migration[] => [
      ...MIGRATIONS,
      { name: '0100_more.sql', statements },
      { name: '0101_never.sql', statements: ['CREATE TABLE IF NOT EXISTS never (a INT)'] },
    ]
    const [first, third] = ['first', 'third'].map((name) => `CREATE TABLE IF NOT EXISTS ${name} (a INT)`)
    const failing = more(first!, 'CREATE TABLE IF NOT EXISTS second (a NONSENSE)', third!)
    const stopped = migrate({ databaseUrl, migrations: failing })
    await expect(stopped).rejects.toThrow(MigrationRefused)
    await expect(stopped).rejects.toThrow(
      /0100_more\.sql stopped at statement 2 of 3.*CREATE TABLE IF NOT EXISTS second.*errno \d+.*run the same command again/s,
    )
    expect(await tables()).toEqual(expect.arrayContaining(['first', 'slotted_counters']))
    expect(await tables()).not.toEqual(expect.arrayContaining(['never']))
    const fixed = more(first!, 'CREATE TABLE IF NOT EXISTS second (a INT)', third!)
    expect(await migrate({ databaseUrl, migrations: fixed })).toEqual(fixed.map(({ name }) => name))
    expect(await migrate({ databaseUrl, migrations: fixed })).toEqual([])
  })

  it('add columns and indexes, also if an earlier attempt was cut off before it was recorded', async () => {
    const statements = [
      'ALTER TABLE counters ADD COLUMN more INT NULL, ADD COLUMN still_more INT NULL',
      'ALTER TABLE counters ADD KEY more (more)',
    ]
    const migrations = [...MIGRATIONS, { name: '0100_more.sql', statements }]
    await migrate({ databaseUrl })
    expect(await migrate({ databaseUrl, migrations })).toEqual(['0100_more.sql'])
    await client.execute('DELETE FROM schema_version WHERE id = 1')
    await client.execute('ALTER TABLE counters DROP KEY more')
    expect(await migrate({ databaseUrl, migrations })).toHaveLength(migrations.length)
    expect((await client.execute("SHOW INDEX FROM counters WHERE Key_name = 'more'")).rows).toHaveLength(1)
  })

  it.each([
    ['the command for them', markApplied],
    ['the usual command', migrate],
  ])('that came with a deploy request are recorded by %s', async (_, record) => {
    await deployRequest()
    expect(await record({ databaseUrl })).toEqual(migrationNames)
    expect(await migrate({ databaseUrl })).toEqual([])
  })

  it('are not recorded as applied if a table is missing', async () => {
    await expect(markApplied({ databaseUrl })).rejects.toThrow(/Tables are missing.*Nothing was recorded/)
    expect(await tables()).toEqual([])
    await deployRequest()
    await behave(databaseUrl, {})
    await client.execute('DROP TABLE change_keys')
    await expect(markApplied({ databaseUrl })).rejects.toThrow(/Tables are missing.*Nothing was recorded/)
    expect(await migrationStatus({ databaseUrl })).toEqual({ applied: [], pending: migrationNames })
  })

  it.each(['visitor_salts', 'schema_version'])('make a lost table again, over either protocol: %s', async (table) => {
    const url = new URL(inject('mysqlUrl'))
    url.pathname = `/${new URL(databaseUrl).username}`
    await migrate({ databaseUrl })
    await client.execute(
      'INSERT INTO new_key_budgets (range_start, bucket, minute, record_type, taken) VALUES (0, 397, 1, 1, 7)',
    )
    for (const from of [databaseUrl, url.href]) {
      await client.execute(`DROP TABLE ${table}`)
      expect(await migrate({ databaseUrl: from })).toEqual(migrationNames)
      expect(await migrate({ databaseUrl: from })).toEqual([])
    }
    expect(await tables()).toContain(table)
    expect((await client.execute('SELECT taken FROM new_key_budgets')).rows).toEqual([{ taken: 7 }])
  })

  it('are refused on a server that changes what does not fit instead of refusing it', async () => {
    await behave(databaseUrl, { sqlMode: '' })
    await expect(migrate({ databaseUrl })).rejects.toThrow('STRICT_TRANS_TABLES')
    expect(await tables()).toEqual([])
  })

  it('that a branch with safe migrations refuses point to a deploy request', async () => {
    await behave(databaseUrl, { safeMigrations: true })
    await expect(migrate({ databaseUrl })).rejects.toThrow(/direct DDL is disabled.*deploy request/s)
    expect(await tables()).toEqual([])
  })
})

it('A table of another program under the name of one of ours is reported', async () => {
  await client.execute('CREATE TABLE counters (id INT NOT NULL PRIMARY KEY)')
  await expect(migrate({ databaseUrl })).rejects.toThrow(/other programs have tables of the same names/)
})
