import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PlanetScaleEndpoint } from '../../../local/planetscale/endpoint.ts'
import { bucketOf, idsSql } from '../../../src/database/buckets.ts'
import { databaseAt, type EndpointDatabase, rejection } from './endpoint-database.ts'

// VITESS_URL is the MySQL URL of a sharded keyspace with migrations/vschema.json, which these tests use alone. Without one they are
// skipped, because they are about a real vtgate.
const url = process.env.VITESS_URL

describe.skipIf(url === undefined)('In front of a vtgate', () => {
  const keyspace = new URL(url ?? 'mysql://none/none').pathname.slice(1)
  let endpoint: PlanetScaleEndpoint
  let db: EndpointDatabase
  // The first and the last record id are on different shards.
  const ids = [1n, 2n ** 64n - 1n]
  const add = (id: bigint | undefined) =>
    `UPDATE slotted_counters SET count = count + 1 WHERE ${idsSql('record_id', id!)}`
  const counts = async () => {
    const { rows } = await db.client.execute('SELECT count FROM slotted_counters ORDER BY record_id', null, {
      as: 'array',
    })
    return (rows as number[][]).flat()
  }

  beforeAll(async () => {
    endpoint = new PlanetScaleEndpoint({ mysqlUrl: url!, password: 'test' })
    await endpoint.listen()
    db = databaseAt(keyspace, endpoint.urlOf(keyspace))
    const vtgate = await mysql.createConnection({ uri: url! })
    await vtgate.query('DROP TABLE IF EXISTS slotted_counters')
    await vtgate.query(
      'CREATE TABLE slotted_counters (record_id BIGINT UNSIGNED PRIMARY KEY, bucket SMALLINT UNSIGNED NOT NULL, count INT NOT NULL)',
    )
    for (const id of ids) {
      await vtgate.query(`INSERT INTO slotted_counters (record_id, bucket, count) VALUES (${id}, ${bucketOf(id)}, 0)`)
    }
    await vtgate.end()
  })
  afterAll(async () => {
    await db.client.execute('DROP TABLE slotted_counters')
    await endpoint.close()
  })

  it.each([
    ['SELEKT', 'INVALID_ARGUMENT', /^syntax error at position 7 near 'SELEKT'$/],
    ['SELECT nix.record_id FROM slotted_counters', 'INVALID_ARGUMENT', /^column 'nix.record_id' not found$/],
    ['SELECT id FROM nowhere', 'UNKNOWN', /^table nowhere not found$/],
    [
      'REPLACE INTO slotted_counters (record_id, bucket, count) VALUES (1, 397, 1)',
      'UNIMPLEMENTED',
      /^VT12001: unsupported: /,
    ],
    ['INSERT INTO slotted_counters VALUES (1, 1)', 'FAILED_PRECONDITION', /^VT09004: /],
    ['KILL 1', 'PERMISSION_DENIED', /^VT07001: /],
    [
      'SELECT nix FROM slotted_counters WHERE record_id = 1 AND bucket = 397',
      'NOT_FOUND',
      /^target: (?!.*target: ).*code = NotFound desc = Unknown column/,
    ],
    [
      'SELECT /*vt+ QUERY_TIMEOUT_MS=50 */ SLEEP(2) FROM slotted_counters WHERE record_id = 1 AND bucket = 397',
      'CANCELED',
      /^target: (?!.*target: ).*code = Canceled desc = \(errno 3024\) \(sqlstate HY000\): /,
    ],
  ])('%s fails with the error of Vitess', async (sql, code, message) => {
    const { body } = await db.execute(sql)
    expect(body.error).toEqual({ code, message: expect.stringMatching(message) })
  })

  it('a UNION is sent without a LIMIT in its arms', async () => {
    const arm = 'SELECT count FROM slotted_counters WHERE record_id = 1 AND bucket = 397'
    const { body } = await db.execute(`${arm} UNION ALL ${arm.replace('count', 'nix')}`)
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
    const locked = `SELECT count FROM slotted_counters WHERE ${idsSql('record_id', ids[0]!)} FOR UPDATE NOWAIT`
    expect((await db.execute(locked)).body.error?.message).toContain('(errno 3572)')
    // vttablet ends it after 20 s, without the endpoint.
    await expect.poll(async () => (await db.execute(locked)).body.error, { timeout: 30_000 }).toBeUndefined()
  })

  it('a write holds its locks for the time of its COMMIT', async () => {
    await db.behave({ commitMs: 1_000 })
    const write = db.execute(add(ids[1]))
    const read = `SELECT count FROM slotted_counters WHERE ${idsSql('record_id', ids[1]!)} FOR UPDATE NOWAIT`
    await expect.poll(async () => (await db.execute(read)).body.error?.message).toContain('(errno 3572)')
    expect((await write).body.result).toEqual({ rowsAffected: '1' })
    await db.behave({})
    expect((await db.execute(read)).body.error).toBeUndefined()
  })

  it('vttablet consolidates reads unless they forbid it', async () => {
    const ran = async (sql: string) => {
      const answers = await Promise.all([db.execute(sql), db.execute(sql)])
      return new Set(answers.map(({ body }) => body.result!.rows![0]!.values)).size
    }
    const slow = 'SELECT SLEEP(1), UUID() FROM slotted_counters WHERE record_id = 1 AND bucket = 397'
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
