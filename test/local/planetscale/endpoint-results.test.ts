import { DatabaseError } from '@planetscale/database'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type EndpointDatabase, emptyDatabase, rejection } from './endpoint-database.ts'

let db: EndpointDatabase
beforeAll(async () => {
  db = await emptyDatabase()
})

describe('The affected rows', () => {
  const affected = async (sql: string) => (await db.client.execute(sql)).rowsAffected
  beforeEach(async () => {
    await db.client.execute('DROP TABLE IF EXISTS counters')
    await db.client.execute('CREATE TABLE counters (id INT PRIMARY KEY, count BIGINT NOT NULL)')
    await db.client.execute('INSERT INTO counters VALUES (1, 10), (2, 20), (3, 30)')
  })

  it('of an insert are its rows', async () => {
    expect(await affected('INSERT INTO counters VALUES (4, 1)')).toBe(1)
    expect(await affected('INSERT INTO counters VALUES (5, 1), (6, 1), (7, 1)')).toBe(3)
    expect(await affected('INSERT IGNORE INTO counters VALUES (5, 1), (8, 1)')).toBe(1)
  })

  it('of an upsert are 1 for a new row, 2 for a changed row and 1 for an unchanged row', async () => {
    const upsert = (values: string) =>
      affected(`INSERT INTO counters VALUES ${values} ON DUPLICATE KEY UPDATE count = VALUES(count)`)
    expect(await upsert('(4, 1)')).toBe(1)
    expect(await upsert('(4, 2)')).toBe(2)
    expect(await upsert('(4, 2)')).toBe(1)
    expect(await upsert('(4, 2), (5, 1), (1, 11)')).toBe(4)
  })

  it('of an update are the rows that it matches, changed or not', async () => {
    expect(await affected('UPDATE counters SET count = count + 1')).toBe(3)
    expect(await affected('UPDATE counters SET count = 11 WHERE id = 1')).toBe(1)
    expect(await affected('UPDATE counters SET count = 5 WHERE id = 99')).toBe(0)
  })

  it('of a delete are the deleted rows, and those of a REPLACE include them', async () => {
    expect(await affected('DELETE FROM counters WHERE id < 3')).toBe(2)
    expect(await affected('DELETE FROM counters WHERE id < 3')).toBe(0)
    expect(await affected('REPLACE INTO counters VALUES (3, 31)')).toBe(2)
  })
})

describe('A result', () => {
  it('has up to 100,000 rows and fails with one more', async () => {
    await db.client.execute('CREATE TABLE digits (d INT PRIMARY KEY)')
    await db.client.execute('INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)')
    await db.client.execute('CREATE TABLE numbers (n INT PRIMARY KEY)')
    // The limit applies to results only, not to rows that a statement moves within the server.
    const filled = await db.client.execute(
      `INSERT INTO numbers SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d
       FROM digits a, digits b, digits c, digits d, digits e
       UNION ALL SELECT 100000 UNION ALL SELECT 100001`,
    )
    expect(filled.rowsAffected).toBe(100_002)
    expect(await db.value('SELECT COUNT(*) FROM numbers')).toBe('100002')

    const most = await db.client.execute('SELECT n FROM numbers WHERE n < 100000 ORDER BY n')
    expect(most.size).toBe(100_000)
    expect(most.rows.at(-1)).toEqual({ n: 99_999 })
    for (const sql of [
      'SELECT n FROM numbers WHERE n < 100001',
      'SELECT n FROM numbers',
      'SELECT n FROM numbers LIMIT 100001',
      'SELECT n FROM numbers LIMIT 1000000',
    ]) {
      const error = await rejection(db.client.execute(sql))
      expect(error).toMatchObject({ status: 400, body: { code: 'ABORTED' } })
      expect((error as Error).message).toContain('desc = Row count exceeded 100000 (CallerID')
    }
    expect((await db.client.execute('SELECT n FROM numbers WHERE n >= 2')).size).toBe(100_000)
  })
})

describe('An error', () => {
  beforeAll(async () => {
    await db.client.execute('CREATE TABLE limits (id INT PRIMARY KEY, tiny TINYINT, big BIGINT NOT NULL)')
    await db.client.execute('INSERT INTO limits VALUES (1, 1, 9223372036854775807)')
  })

  it.each([
    ['a duplicate key', 'INSERT INTO limits VALUES (1, 1, 1)', 'ALREADY_EXISTS', 'AlreadyExists', 1062, '23000'],
    ['a syntax error', 'SELEKT 1', 'INVALID_ARGUMENT', 'InvalidArgument', 1064, '42000'],
    ['an unknown column', 'SELECT nothing FROM limits', 'NOT_FOUND', 'NotFound', 1054, '42S22'],
    ['an unknown table', 'SELECT id FROM nowhere', 'NOT_FOUND', 'NotFound', 1146, '42S02'],
    [
      'a value out of range',
      'UPDATE limits SET tiny = 300',
      'FAILED_PRECONDITION',
      'FailedPrecondition',
      1264,
      '22003',
    ],
    ['an overflow', 'UPDATE limits SET big = big + 1', 'INVALID_ARGUMENT', 'InvalidArgument', 1690, '22003'],
    ['an error without a code in Vitess', 'INSERT INTO limits (id) VALUES (2)', 'UNKNOWN', 'Unknown', 1364, 'HY000'],
  ])('for %s is worded as in Vitess, with HTTP 200', async (_name, sql, code, grpc, errno, sqlState) => {
    const { status, body } = await db.execute(sql)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['error', 'session', 'timing'])
    expect(body.error?.code).toBe(code)
    const prefix = `target: ${db.name}.-.primary: vttablet: rpc error: code = ${grpc} desc = `
    expect(body.error?.message.startsWith(prefix)).toBe(true)
    const text = body.error!.message.slice(prefix.length)
    expect(text).toContain(`(errno ${errno}) (sqlstate ${sqlState})`)
    expect(text).toContain(`Sql: ${JSON.stringify(sql)}`)
    expect(text).toMatch(/^\w.*\w.* \(errno/)

    const thrown = await rejection(db.client.execute(sql))
    expect(thrown).toBeInstanceOf(DatabaseError)
    expect(thrown).toMatchObject({ status: 400, body: { code }, message: body.error?.message })
    expect(await db.value('SELECT big FROM limits')).toBe('9223372036854775807')
  })
})

describe('An expression', () => {
  beforeAll(async () => {
    await db.client.execute('CREATE TABLE counts (n BIGINT NOT NULL)')
    await db.client.execute('INSERT INTO counts VALUES (9007199254740993), (9007199254740992), (-1)')
  })

  it('with SUM, AVG or COUNT arrives as a string with all digits', async () => {
    const { rows, types } = await db.client.execute('SELECT SUM(n) AS s, AVG(n) AS a, COUNT(*) AS c FROM counts')
    expect(types).toEqual({ s: 'DECIMAL', a: 'DECIMAL', c: 'INT64' })
    expect(rows).toEqual([{ s: '18014398509481984', a: '6004799503160661.3333', c: '3' }])
  })

  it('with SUM may exceed 64 bits, and is NULL for no rows', async () => {
    const { rows } = await db.client.execute(
      'SELECT SUM(n) * 100000000000000 AS big, SUM(IF(n = 5, n, NULL)) AS none FROM counts',
    )
    expect(rows).toEqual([{ big: '1801439850948198400000000000000', none: null }])
    expect(await db.value('SELECT SUM(n) FROM counts WHERE n = 5')).toBeNull()
  })

  it('of NULL has the type NULL', async () => {
    const { rows, types } = await db.client.execute('SELECT NULL AS v')
    expect({ rows, types }).toEqual({ rows: [{ v: null }], types: { v: 'NULL' } })
  })

  it('keeps empty strings, NULL and zero bytes apart, anywhere in a row', async () => {
    const values = ['', null, '\0', '', null, 'x', '', null]
    const columns = values.map((_, index) => `? AS v${index}`).join(', ')
    const { rows } = await db.client.execute(`SELECT ${columns}`, values, { as: 'array' })
    expect(rows).toEqual([values])
  })

  it('keeps text in any language, as an argument, a literal and a name', async () => {
    const { rows, headers } = await db.client.execute('SELECT ? AS `größe 日本`, CHAR_LENGTH(?) AS n', ['🎉ü', '🎉ü'])
    expect(headers).toEqual(['größe 日本', 'n'])
    expect(rows[0]).toMatchObject({ 'größe 日本': '🎉ü' })
    expect(String((rows[0] as { n: unknown }).n)).toBe('2')
  })

  it('with a time is in UTC', async () => {
    expect(await db.value('SELECT @@SESSION.time_zone')).toBe('+00:00')
    expect(String(await db.value(`SELECT UNIX_TIMESTAMP('1970-01-02 00:00:00')`))).toBe('86400')
  })
})
