import { Client } from '@planetscale/database'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { MigrationRefused, markApplied, migrate, migrationStatus } from '../../../cli/migrate/migrations.ts'
import { type Migration, statementsToDeploy } from '../../../src/database/migrations.ts'
import { MIGRATIONS } from '../../../src/generated.ts'
import { behave } from '../../harness/behave.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'

const say = () => {}
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
  for (const sql of statementsToDeploy({ there: new Set(), pending: [...MIGRATIONS] })) await client.execute(sql)
  await behave(databaseUrl, { safeMigrations: true })
}

const tables = async () => {
  const { rows } = await client.execute('SHOW TABLES', null, { as: 'array' })
  return (rows as string[][]).flat().sort()
}

describe('Migrations', () => {
  it('are applied once, in order, and a second run does nothing', async () => {
    const names = migrationNames
    expect(await migrate({ databaseUrl, say })).toEqual(names)
    expect(await tables()).toEqual([
      'background_runs',
      'change_keys',
      'counter_adjustments',
      'counter_history',
      'counters',
      'counter_periods',
      'new_key_budgets',
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

  it('add columns and indexes, also if an earlier attempt was cut off before it was recorded', async () => {
    const statements = [
      'ALTER TABLE counters ADD COLUMN more INT NULL, ADD COLUMN still_more INT NULL',
      'ALTER TABLE counters ADD KEY more (more)',
    ]
    const migrations = [...MIGRATIONS, { name: '0100_more.sql', statements }]
    await migrate({ databaseUrl, say })
    expect(await migrate({ databaseUrl, migrations, say })).toEqual(['0100_more.sql'])
    await client.execute('DELETE FROM slotted_counter_migrations')
    await client.execute('ALTER TABLE counters DROP KEY more')
    expect(await migrate({ databaseUrl, migrations, say })).toHaveLength(migrations.length)
    expect((await client.execute("SHOW INDEX FROM counters WHERE Key_name = 'more'")).rows).toHaveLength(1)
  })

  it.each([
    ['the command for them', markApplied],
    ['the usual command', migrate],
  ])('that came with a deploy request are recorded by %s', async (_, record) => {
    await deployRequest()
    expect(await record({ databaseUrl, say })).toEqual(migrationNames)
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })

  it('are not recorded as applied if something is missing, which is named', async () => {
    await expect(markApplied({ databaseUrl, say })).rejects.toThrow(/lacks: table slotted_counters, .*Nothing was/)
    expect(await tables()).toEqual([])
    await deployRequest()
    await behave(databaseUrl, {})
    await client.execute('ALTER TABLE counters DROP KEY ranking')
    await client.execute('ALTER TABLE rollup_state DROP COLUMN stopped_by')
    await client.execute('ALTER TABLE counters DROP KEY name')
    await client.execute('DROP TABLE change_keys')
    await expect(markApplied({ databaseUrl, say })).rejects.toThrow(
      'The database lacks: index counters.ranking, index counters.name, table change_keys, column rollup_state.stopped_by. Nothing',
    )
    expect(await migrationStatus({ databaseUrl, say })).toEqual({ applied: [], pending: migrationNames })
  })

  it('are refused on a server that changes what does not fit instead of refusing it', async () => {
    await behave(databaseUrl, { sqlMode: '' })
    await expect(migrate({ databaseUrl, say })).rejects.toThrow('STRICT_TRANS_TABLES')
    expect(await tables()).toEqual([])
  })

  it('that a branch with safe migrations refuses point to a deploy request', async () => {
    await behave(databaseUrl, { safeMigrations: true })
    await expect(migrate({ databaseUrl, say })).rejects.toThrow(/direct DDL is disabled.*deploy request/s)
    expect(await tables()).toEqual([])
  })
})

it('A table of another program under the name of one of ours is reported', async () => {
  await client.execute('CREATE TABLE counters (id INT NOT NULL PRIMARY KEY)')
  await expect(migrate({ databaseUrl, say })).rejects.toThrow(/counters/)
})
