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

const bytes = (...values: number[]) => Uint8Array.from(values)
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index)
const repeat = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 31) % 256)
const TEXT = `naïve 日本語 Ελλάδα עברית 🎉👩‍👩‍👧 e\u0301 'q' "q" \\ % _ \n\t\r\0 end`
/** An SQL literal and the value that the driver returns for it, or a value that is sent as an argument. */
type Sample = [literal: string, value: unknown] | { argument: unknown }

/** Samples whose literal is the value itself. */
const numbers = (...values: number[]) => values.map((value): Sample => [String(value), value])
/** Samples whose value is the text of the literal: numbers beyond 2^53, and decimals. */
const exactly = (...values: string[]) => values.map((value): Sample => [value, value])
/** Samples whose literal is their value in quotes. */
const quoted = (...values: string[]) => values.map((value): Sample => [`'${value}'`, value])
const sent = (...values: unknown[]) => values.map((argument): Sample => ({ argument }))

const EMPTY: Sample[] = [[`x''`, bytes()]]
const PADDED: Sample[] = [
  [`x'000102'`, bytes(0, 1, 2)],
  [`x'ff'`, bytes(255, 0, 0)],
]
const NINES = `-${'9'.repeat(35)}.${'9'.repeat(30)}`
const DECIMALS: Sample[] = [
  ['0', `0.${'0'.repeat(30)}`],
  ...exactly(NINES, `0.${'0'.repeat(29)}1`, '12345678901234567890123456789012345.123456789012345678901234567890'),
]

/** Column type, Vitess type, and samples: of the types that tables of the Worker have, and of texts. */
const COLUMNS: [string, string, Sample[]][] = [
  ['TINYINT', 'INT8', numbers(-128, 0, 127)],
  ['TINYINT UNSIGNED', 'UINT8', numbers(0, 255)],
  ['SMALLINT UNSIGNED', 'UINT16', numbers(0, 65535)],
  ['INT', 'INT32', numbers(-2147483648, 2147483647)],
  ['INT UNSIGNED', 'UINT32', numbers(0, 4294967295)],
  ['BIGINT', 'INT64', exactly('-9223372036854775808', '0', '9007199254740993', '9223372036854775807')],
  ['BIGINT UNSIGNED', 'UINT64', exactly('0', '9223372036854775808', '18446744073709551615')],
  ['DECIMAL(65,30)', 'DECIMAL', DECIMALS],
  ['DECIMAL(20,0)', 'DECIMAL', exactly('18446744073709551617')],
  ['DATE', 'DATE', quoted('1000-01-01', '2024-02-29', '9999-12-31')],
  ['DATETIME', 'DATETIME', quoted('1000-01-01 00:00:00', '9999-12-31 23:59:59')],
  ['DATETIME(3)', 'DATETIME', quoted('1000-01-01 00:00:00.000', '9999-12-31 23:59:59.999')],
  ['CHAR(255)', 'CHAR', [...quoted(''), ...sent('ü'.repeat(255))]],
  ['VARCHAR(200)', 'VARCHAR', [...quoted('', ' '), ...sent(TEXT, '🎉'.repeat(200))]],
  // In Vitess too, a binary collation makes the type binary, although the character set makes it text.
  ['VARCHAR(200) COLLATE utf8mb4_bin', 'VARBINARY', [...quoted(''), ...sent(TEXT)]],
  ['BINARY(3)', 'BINARY', PADDED],
  ['VARBINARY(256)', 'VARBINARY', [...EMPTY, ...sent(ALL_BYTES)]],
  ['BLOB', 'BLOB', [...EMPTY, ...sent(ALL_BYTES, repeat(65_535))]],
  ['TEXT', 'TEXT', [...quoted(''), ...sent(TEXT, 'x'.repeat(65_535))]],
]

describe('A column of the type', () => {
  it.each(COLUMNS)('%s becomes %s and keeps its values', async (type, vitess, samples) => {
    await db.client.execute('DROP TABLE IF EXISTS samples')
    await db.client.execute(`CREATE TABLE samples (id INT PRIMARY KEY, v ${type})`)
    await db.client.execute('INSERT INTO samples VALUES (0, NULL)')
    for (const [index, sample] of samples.entries()) {
      if (Array.isArray(sample)) await db.client.execute(`INSERT INTO samples VALUES (${index + 1}, ${sample[0]})`)
      else await db.client.execute('INSERT INTO samples VALUES (?, ?)', [index + 1, sample.argument])
    }
    const { rows, types } = await db.client.execute('SELECT v FROM samples ORDER BY id')
    expect(types).toEqual({ v: vitess })
    const expected = samples.map((sample) => (Array.isArray(sample) ? sample[1] : sample.argument))
    expect(rows.map((row) => (row as { v: unknown }).v)).toEqual([null, ...expected])
  })
})
