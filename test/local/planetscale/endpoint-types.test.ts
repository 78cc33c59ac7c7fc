import { beforeAll, describe, expect, it } from 'vitest'
import { type EndpointDatabase, emptyDatabase } from './endpoint-database.ts'

let db: EndpointDatabase
let isMariaDb = false
beforeAll(async () => {
  db = await emptyDatabase()
  isMariaDb = String(await db.value('SELECT VERSION()')).includes('MariaDB')
})

const bytes = (...values: number[]) => Uint8Array.from(values)
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index)
const repeat = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 31) % 256)
const TEXT = `naïve 日本語 Ελλάδα עברית 🎉👩‍👩‍👧 e\u0301 'q' "q" \\ % _ \n\t\r\0 end`
/** The bytes of a point at (1, 2): SRID, byte order, type, coordinates. */
const POINT = bytes(0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63, 0, 0, 0, 0, 0, 0, 0, 64)

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
const POINTS: Sample[] = [[`ST_GeomFromText('POINT(1 2)')`, POINT]]
const BOOLEANS: Sample[] = [
  ['TRUE', 1],
  ['FALSE', 0],
]
const BIT: Sample[] = [
  [`b'0'`, bytes(0)],
  [`b'1'`, bytes(1)],
]
const BITS: Sample[] = [
  ['0', bytes(0, 0, 0, 0, 0, 0, 0, 0)],
  ['18446744073709551615', bytes(255, 255, 255, 255, 255, 255, 255, 255)],
  ['258', bytes(0, 0, 0, 0, 0, 0, 1, 2)],
]
const PADDED: Sample[] = [
  [`x'000102'`, bytes(0, 1, 2)],
  [`x'ff'`, bytes(255, 0, 0)],
]
const NINES = `-${'9'.repeat(35)}.${'9'.repeat(30)}`
const DECIMALS: Sample[] = [
  ['0', `0.${'0'.repeat(30)}`],
  ...exactly(NINES, `0.${'0'.repeat(29)}1`, '12345678901234567890123456789012345.123456789012345678901234567890'),
]

/** Column type, Vitess type, and samples. */
const COLUMNS: [string, string, Sample[]][] = [
  ['TINYINT', 'INT8', numbers(-128, 0, 127)],
  ['TINYINT UNSIGNED', 'UINT8', numbers(0, 255)],
  ['BOOLEAN', 'INT8', BOOLEANS],
  ['SMALLINT', 'INT16', numbers(-32768, 32767)],
  ['SMALLINT UNSIGNED', 'UINT16', numbers(0, 65535)],
  ['MEDIUMINT', 'INT24', numbers(-8388608, 8388607)],
  ['MEDIUMINT UNSIGNED', 'UINT24', numbers(0, 16777215)],
  ['INT', 'INT32', numbers(-2147483648, 2147483647)],
  ['INT UNSIGNED', 'UINT32', numbers(0, 4294967295)],
  ['BIGINT', 'INT64', exactly('-9223372036854775808', '0', '9007199254740993', '9223372036854775807')],
  ['BIGINT UNSIGNED', 'UINT64', exactly('0', '9223372036854775808', '18446744073709551615')],
  ['DECIMAL(65,30)', 'DECIMAL', DECIMALS],
  ['DECIMAL(20,0)', 'DECIMAL', exactly('18446744073709551617')],
  ['FLOAT', 'FLOAT32', numbers(-3.40282e38, 0, 1.17549e-38, 0.5, 3.40282e38)],
  ['DOUBLE', 'FLOAT64', numbers(-Number.MAX_VALUE, 0.1, 2.2250738585072014e-308, Number.MAX_VALUE)],
  ['BIT(1)', 'BIT', BIT],
  ['BIT(64)', 'BIT', BITS],
  ['DATE', 'DATE', quoted('1000-01-01', '2024-02-29', '9999-12-31')],
  ['DATETIME', 'DATETIME', quoted('1000-01-01 00:00:00', '9999-12-31 23:59:59')],
  ['DATETIME(3)', 'DATETIME', quoted('1000-01-01 00:00:00.000', '9999-12-31 23:59:59.999')],
  ['TIMESTAMP NULL', 'TIMESTAMP', quoted('1970-01-01 00:00:01', '2038-01-19 03:14:07')],
  ['TIMESTAMP(6) NULL', 'TIMESTAMP', quoted('2026-11-20 10:59:30.000001')],
  ['TIME', 'TIME', quoted('-838:59:59', '00:00:00', '838:59:59')],
  ['TIME(6)', 'TIME', quoted('-12:34:56.000001')],
  ['YEAR', 'YEAR', numbers(1901, 2026, 2155)],
  ['CHAR(255)', 'CHAR', [...quoted(''), ...sent('ü'.repeat(255))]],
  ['VARCHAR(200)', 'VARCHAR', [...quoted('', ' '), ...sent(TEXT, '🎉'.repeat(200))]],
  // In Vitess too, a binary collation makes the type binary, although the character set makes it text.
  ['VARCHAR(200) COLLATE utf8mb4_bin', 'VARBINARY', [...quoted(''), ...sent(TEXT)]],
  ['VARCHAR(20) CHARACTER SET latin1', 'VARCHAR', sent('naïve')],
  ['BINARY(3)', 'BINARY', PADDED],
  ['VARBINARY(256)', 'VARBINARY', [...EMPTY, ...sent(ALL_BYTES)]],
  ['TINYBLOB', 'BLOB', [...EMPTY, ...sent(ALL_BYTES.slice(1))]],
  ['BLOB', 'BLOB', [...EMPTY, ...sent(ALL_BYTES, repeat(65_535))]],
  ['MEDIUMBLOB', 'BLOB', sent(ALL_BYTES, repeat(100_000))],
  ['LONGBLOB', 'BLOB', sent(ALL_BYTES, repeat(300_000))],
  ['TINYTEXT', 'TEXT', [...quoted(''), ...sent(TEXT)]],
  ['TEXT', 'TEXT', [...quoted(''), ...sent(TEXT, 'x'.repeat(65_535))]],
  ['MEDIUMTEXT', 'TEXT', sent(TEXT, '🎉'.repeat(100_000))],
  ['LONGTEXT', 'TEXT', sent(TEXT, 'ü'.repeat(2_000_000))],
  [`ENUM('a','ü🎉')`, 'ENUM', quoted('a', 'ü🎉')],
  [`ENUM('a','b') COLLATE utf8mb4_bin`, 'BINARY', quoted('b')],
  [`SET('x','y','z')`, 'SET', [...quoted('', 'x'), [`'z,x,y'`, 'x,y,z']]],
  ['GEOMETRY', 'GEOMETRY', POINTS],
  ['POINT', 'GEOMETRY', POINTS],
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

  it('JSON keeps its values; in MariaDB it is a text', async () => {
    const json = { a: [1, 2.5, null, true], b: { ü: '🎉' }, '': '' }
    await db.client.execute('CREATE TABLE documents (id INT PRIMARY KEY, v JSON)')
    await db.client.execute('INSERT INTO documents VALUES (1, NULL), (2, ?), (3, ?)', [JSON.stringify(json), 'null'])
    const { rows, types } = await db.client.execute('SELECT v FROM documents ORDER BY id', null, { as: 'array' })
    const values = (rows as unknown[][]).flat()
    if (isMariaDb) {
      expect(types).toEqual({ v: 'BLOB' })
      expect(values).toEqual([null, JSON.stringify(json), 'null'])
    } else {
      expect(types).toEqual({ v: 'JSON' })
      expect(values).toEqual([null, json, null])
    }
  })

  it('VECTOR keeps its values if the server has it', async ({ skip }) => {
    const created = await db.execute('CREATE TABLE vectors (v VECTOR(2))')
    if (created.body.error) return skip('no VECTOR on this server')
    await db.client.execute(`INSERT INTO vectors VALUES (STRING_TO_VECTOR('[1,-2]'))`)
    const { rows, types } = await db.client.execute('SELECT v FROM vectors')
    expect(types).toEqual({ v: 'VECTOR' })
    expect(rows).toEqual([{ v: new Uint8Array(Float32Array.from([1, -2]).buffer) }])
  })
})
