import { beforeAll, describe, expect, it } from 'vitest'
import { type EndpointDatabase, emptyDatabase } from './endpoint-database.ts'

let db: EndpointDatabase
beforeAll(async () => {
  db = await emptyDatabase()
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
