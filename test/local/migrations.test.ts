import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@planetscale/database'
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { MIGRATIONS, MigrationStopped, markApplied, migrate, migrationStatus } from '../../local/migrations.ts'

const say = () => {}
let databaseUrl: string
let client: Client
beforeEach(async () => {
  const response = await fetch(inject('databases'), { method: 'POST' })
  ;({ databaseUrl } = (await response.json()) as { databaseUrl: string })
  client = new Client({ url: databaseUrl })
})
const tables = async () => {
  const { rows } = await client.execute('SHOW TABLES', null, { as: 'array' })
  return (rows as string[][]).flat().sort()
}

/** A copy of the migrations to which a test adds. */
async function copyOfMigrations(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(MIGRATIONS, folder, { recursive: true })
  return folder
}

describe('migrations', () => {
  it('are applied in order, once; again is a no-op', async () => {
    const names = (await readdir(MIGRATIONS)).sort()
    expect(await migrate({ databaseUrl, say })).toEqual(names)
    expect(await tables()).toEqual([
      'counter_adjustments',
      'counter_history',
      'counter_names',
      'counter_periods',
      'counter_totals',
      'rollup_state',
      'schema_migrations',
      'slotted_counters',
      'type_history',
    ])
    expect(await migrate({ databaseUrl, say })).toEqual([])
    expect(await migrationStatus({ databaseUrl, say })).toEqual({ applied: names, pending: [] })
  })

  it('are looked at without changing anything', async () => {
    expect(await migrationStatus({ databaseUrl, say })).toMatchObject({ applied: [] })
    expect(await tables()).toEqual([])
  })

  it('may be applied over the MySQL protocol as well', async () => {
    const url = new URL(inject('mysqlUrl'))
    url.pathname = `/${new URL(databaseUrl).username}`
    expect(await migrate({ databaseUrl: url.href, say })).toHaveLength((await readdir(MIGRATIONS)).length)
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })

  it('started twice at once both end well, with everything applied once', async () => {
    await Promise.all([migrate({ databaseUrl, say }), migrate({ databaseUrl, say })])
    const { rows } = await client.execute('SELECT COUNT(*) AS n FROM schema_migrations')
    expect(rows).toEqual([{ n: String((await readdir(MIGRATIONS)).length) }])
  })

  it('that fail say where they stopped and what to do, and go on from there once the cause is gone', async () => {
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
    // What PlanetScale answers cannot be had here; the server refuses with its words instead.
    await writeFile(join(folder, '0100_refused.sql'), 'SELECT * FROM `direct DDL is disabled`')
    await expect(migrate({ databaseUrl, folder, say })).rejects.toThrow(/deploy request/)
  })

  it('can be recorded as applied where the tables came with a deploy request', async () => {
    const names = (await readdir(MIGRATIONS)).sort()
    expect(await markApplied({ databaseUrl, say })).toEqual(names)
    expect(await tables()).toEqual(['schema_migrations'])
    expect(await migrate({ databaseUrl, say })).toEqual([])
  })
})
