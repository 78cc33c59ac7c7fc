import { beforeAll, describe, expect, inject, it } from 'vitest'
import { bucketOf, idsSql } from '../../../src/database/buckets.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { databaseAt, type EndpointDatabase, rejection } from './endpoint-database.ts'

// Only Vitess has several ranges: one for each shard.
describe.skipIf(inject('ranges') === 1)('In front of a vtgate', () => {
  let db: EndpointDatabase
  // The first and the last record id are on different shards.
  const ids = [1n, 2n ** 64n - 1n] as const
  const slotOf = (id: bigint) => `record_type = 1 AND ${idsSql('record_id', id)}`
  const add = (id: bigint) => `UPDATE slotted_counters SET count = count + 1 WHERE ${slotOf(id)}`
  const lock = (id: bigint) => `SELECT count FROM slotted_counters WHERE ${slotOf(id)} FOR UPDATE NOWAIT`
  const counts = async () => {
    const { rows } = await db.client.execute('SELECT count FROM slotted_counters ORDER BY record_id')
    return rows.map((row) => Number((row as { count: string }).count))
  }

  beforeAll(async () => {
    const { name, databaseUrl } = await takeDatabase()
    db = databaseAt(name, databaseUrl)
    for (const id of ids) {
      await db.client.execute(`INSERT INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until)
        VALUES (1, ${id}, ${bucketOf(id)}, 0, 0, 0, 0)`)
    }
  })

  // The same whether or not vtgate knows the columns yet: it is told of them some time after a migration.
  it.each([
    ['SELEKT', 'INVALID_ARGUMENT', /^syntax error at position 7 near 'SELEKT'$/],
    ['SELECT nix.record_id FROM slotted_counters', 'INVALID_ARGUMENT', /^column 'nix.record_id' not found$/],
    ['SELECT id FROM nowhere', 'UNKNOWN', /^table nowhere not found$/],
    [
      'REPLACE INTO slotted_counters (record_id, bucket, count) VALUES (1, 397, 1)',
      'UNIMPLEMENTED',
      /^VT12001: unsupported: /,
    ],
    ['SELECT count FROM slotted_counters USE VINDEX (nix)', 'FAILED_PRECONDITION', /^VT09021: /],
    ['KILL 1', 'PERMISSION_DENIED', /^VT07001: /],
    [
      'SELECT count FROM slotted_counters USE INDEX (nix) WHERE record_id = 1 AND bucket = 397',
      'NOT_FOUND',
      /^target: (?!.*target: ).*code = NotFound desc = Key 'nix' doesn't exist/,
    ],
    [
      'SELECT /*vt+ QUERY_TIMEOUT_MS=500 */ SLEEP(9) FROM slotted_counters WHERE record_id = 1 AND bucket = 397',
      'CANCELED',
      /^target: (?!.*target: ).*code = Canceled desc = \(errno 3024\) \(sqlstate HY000\): /,
    ],
  ])('%s fails with the error of Vitess', async (sql, code, message) => {
    const { body } = await db.execute(sql)
    expect(body.error).toEqual({ code, message: expect.stringMatching(message) })
  })

  it('a UNION is sent without a LIMIT in its arms', async () => {
    const arm = 'SELECT count FROM slotted_counters USE INDEX (nix) WHERE record_id = 1 AND bucket = 397'
    const { body } = await db.execute(`${arm} UNION ALL ${arm}`)
    expect(body.error?.message).toContain('Sql: "select')
    expect(body.error?.message).not.toContain(' limit ')
  })

  it('a statement and a transaction that would span shards are refused, and change nothing', async () => {
    const refused = { code: 'ABORTED', message: expect.stringMatching(/^multi-db transaction attempted: /) }
    const before = await counts()
    expect((await db.execute('UPDATE slotted_counters SET count = count + 1')).body.error).toEqual(refused)
    const session = await db.begin(add(ids[0]))
    const { body } = await db.execute(add(ids[1]), session)
    expect(body.error).toEqual(refused)
    expect(body.session!.vitessSession).not.toHaveProperty('inTransaction')
    await db.execute(add(ids[0]))
    expect(await counts()).toEqual([before[0]! + 1, before[1]])
  })

  it('a transaction keeps its locks in spite of ROLLBACK if the answer to its first statement was lost', async () => {
    const { session } = (await db.execute('BEGIN')).body
    await db.behave({ faults: [{ action: 'cut-answer', match: 'UPDATE' }] })
    await rejection(db.execute(add(ids[0]), session))
    expect((await db.execute('ROLLBACK', session)).body.error).toBeUndefined()
    expect((await db.execute(lock(ids[0]))).body.error?.message).toContain('(errno 3572)')
    // vttablet ends it after 20 s, without the endpoint.
    await expect.poll(async () => (await db.execute(lock(ids[0]))).body.error, { timeout: 60_000 }).toBeUndefined()
  })

  it('a write holds its locks for the time of its COMMIT', async () => {
    await db.behave({ commitMs: 10_000 })
    const write = db.execute(add(ids[1]))
    await expect.poll(async () => (await db.execute(lock(ids[1]))).body.error?.message).toContain('(errno 3572)')
    expect((await write).body.result).toEqual({ rowsAffected: '1' })
    await db.behave({})
    expect((await db.execute(lock(ids[1]))).body.error).toBeUndefined()
  })

  it('vttablet consolidates reads unless they forbid it', async () => {
    const ran = async (sql: string) => {
      const answers = await Promise.all([db.execute(sql), db.execute(sql)])
      return new Set(answers.map(({ body }) => body.result!.rows![0]!.values)).size
    }
    const slow = 'SELECT SLEEP(3), UUID() FROM slotted_counters WHERE record_id = 1 AND bucket = 397'
    expect(await ran(slow)).toBe(1)
    expect(await ran(slow.replace('SELECT', 'SELECT /*vt+ CONSOLIDATOR=disabled */'))).toBe(2)
  })

  it('statements are recorded without the rows that the servers read', async () => {
    await db.behave({ record: true })
    await db.client.execute(add(ids[0]))
    await db.behave({})
    expect(await db.recorded()).toEqual([{ sql: add(ids[0]), rowsReturned: 0, rowsAffected: 1, rowsRead: 0 }])
  })
})
