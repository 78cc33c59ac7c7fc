import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CountFormat, type CountRow, readCountRows } from '../../local/count-rows.ts'
import { EXPORT_FORMATS, type ExportedRow } from '../../local/export-format.ts'
import { importChunks } from '../../local/import-chunks.ts'

/** Hands over a file in pieces of a size. */
async function* pieces(content: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const read = (content: string | Buffer, format?: CountFormat, size = 7) =>
  Array.fromAsync(readCountRows(pieces(content, size), format))
const plain = (rows: readonly CountRow[]) =>
  rows.map(({ type, key, count, day }) => [type, key, count, day ?? null] as const)

describe('a file of counts', () => {
  it.each<[string, string]>([
    ['CSV', 'type,key,count,day\npage_view,/a,5,2026-11-01\npage_view,"/b,""c""\n",-7,\n'],
    [
      'CSV with columns in another order',
      'count,type,day,key\n5,page_view,2026-11-01,/a\n-7,page_view,,"/b,""c""\n"\n',
    ],
    [
      'CSV with a byte order mark and CRLF',
      '\uFEFFtype,key,count,day\r\npage_view,/a,5,2026-11-01\r\npage_view,"/b,""c""\n",-7,\r\n',
    ],
    [
      'a JSON array',
      '[{"type":"page_view","key":"/a","count":5,"day":"2026-11-01"},\n {"type":"page_view","key":"/b,\\"c\\"\\n","count":-7}]',
    ],
    [
      'JSON lines',
      '{"type":"page_view","key":"/a","count":5,"day":"2026-11-01"}\n{"type":"page_view","key":"/b,\\"c\\"\\n","count":-7}',
    ],
    [
      'pretty-printed JSON',
      JSON.stringify(
        [
          { type: 'page_view', key: '/a', count: 5, day: '2026-11-01' },
          { type: 'page_view', key: '/b,"c"\n', count: -7, day: null },
        ],
        null,
        2,
      ),
    ],
  ])('may be %s, read in pieces of any size', async (_, content) => {
    for (const size of [1, 2, 7, 10_000]) {
      expect(plain(await read(content, undefined, size))).toEqual([
        ['page_view', '/a', 5n, '2026-11-01'],
        ['page_view', '/b,"c"\n', -7n, null],
      ])
    }
  })

  it('keeps all digits of a count', async () => {
    expect(plain(await read('[{"type":"a","key":"k","count":9223372036854775807}]'))[0]![2]).toBe(2n ** 63n - 1n)
    expect(plain(await read('type,key,count\na,k,-9223372036854775807'))[0]![2]).toBe(-(2n ** 63n) + 1n)
  })

  it.each<[string, string, RegExp]>([
    ['no header', 'page_view,/a,5\n', /^line 1: the header must be/],
    ['an unknown column', 'type,key,count,colour\na,b,1,red\n', /^line 1: the header must be/],
    ['a column twice', 'type,key,key,count\na,b,b,1\n', /^line 1: the header must be/],
    ['too few cells', 'type,key,count\na,b,1\na,b\n', /^line 3: .*cells/],
    ['too many cells', 'type,key,count\na,b,1\n\na,b,1,2\n', /^line 4: .*cells/],
    ['a quotation mark that is not closed', 'type,key,count\na,b,1\na,"b,1\n', /^line \d: .*quotation mark/],
    [
      'a quotation mark that is never closed',
      `type,key,count\na,"${'b\n'.repeat(50_000)}`,
      /^line \d+: .*quotation mark/,
    ],
    ['a count that is none', 'type,key,count\na,b,1\na,b,five\n', /^line 3: count must be a whole number/],
    ['a fraction', 'type,key,count\na,b,1.5\n', /^line 2: count/],
    ['a count beyond 64 bits', 'type,key,count\na,b,9223372036854775808\n', /^line 2: count must be within 64 bits/],
    ['a day that never was', 'type,key,count,day\na,b,1,2026-02-30\n', /^line 2: day/],
    ['a day that is to come', 'type,key,count,day\na,b,1,2999-01-01\n', /^line 2: day/],
    ['no key', 'type,key,count\na,,1\n', /^line 2: key/],
    [
      'an object that is not closed',
      '[{"type":"a","key":"b","count":1},\n{"type":"a"',
      /^line 2: the file ends too early/,
    ],
    ['an array that is not closed', '[{"type":"a","key":"b","count":1}\n', /^line 2: the file ends too early/],
    [
      'an array that is cut off between objects',
      '[{"type":"a","key":"b","count":1},\n',
      /^line 2: the file ends too early/,
    ],
    ['something after the array', '[]\n[]', /^line 2: expected/],
    ['something between', '{"type":"a","key":"b","count":1}\n5\n', /^line 2: expected/],
    ['no comma', '[{"type":"a","key":"b","count":1}\n{"type":"a","key":"b","count":1}]', /^line 2: expected/],
    ['what is not JSON', '{"type":"a","key":"b","count":1}\n{"type":a}\n', /^line 2: it is not JSON/],
    ['a text for a count', '{"type":"a","key":"b","count":"x"}', /^line 1: count/],
    ['another member', '{"type":"a","key":"b","count":1,"by":1}', /^line 1: an object may have/],
    ['an endless object', `{"a":"${'x'.repeat(100_000)}"}`, /^line 1: this object is too long/],
    ['an exponent', '{"type":"a","key":"b","count":1e3}', /^line 1: count/],
  ])('with %s is refused with its line', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
    await expect(read(content, undefined, 100_000)).rejects.toThrow(message)
  })

  it.each([
    ['what is not UTF-8', Buffer.from([...Buffer.from('type,key,count\na,b,1\na,'), 0xff, 0x0a]), /^line 3: .*UTF-8/],
    ['gzip, where it was not decompressed', gzipSync('type,key,count\n'), /UTF-8|header/],
    ['random bytes', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 256)), /^line \d+: /],
  ])('of %s is refused', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
  })

  it('of nothing has no rows', async () => {
    for (const content of ['', '\n', '[]', 'type,key,count\n']) expect(await read(content)).toEqual([])
  })

  it('as it is exported is what is read again, whatever the keys', async () => {
    const key = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.string({
        minLength: 1,
        unit: fc.constantFrom("'", '"', ',', '=', '-', '\r', '\n', '\t', ' ', 'a', '\u202e', '😀'),
      }),
    )
    const row = fc.record({
      type: fc.constantFrom('page_view', 'download'),
      key: key.filter((key) => key.isWellFormed()),
      count: fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }).map(String),
      day: fc.constantFrom(undefined, '2026-11-01', '1970-01-01'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 20 }),
        fc.constantFrom('csv', 'json'),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(20),
        async (generated, format, size, cut) => {
          const rows = generated.map(({ day, ...row }): ExportedRow => ({ ...row, ...(day !== undefined && { day }) }))
          const { begin, rows: write, end } = EXPORT_FORMATS[format as CountFormat]
          // In two pages, of which one may be empty.
          const pages = [rows.slice(0, cut), rows.slice(cut)].filter((page) => page.length > 0)
          const content = begin + pages.map((page, i) => write(page, i === 0)).join('') + end
          if (format === 'json') JSON.parse(content)
          const again = plain(await read(content, undefined, size))
          expect(again).toEqual(rows.map(({ type, key, count, day }) => [type, key, BigInt(count), day ?? null]))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('the chunks of an import', () => {
  const rows = (count: number, key: (i: number) => string) =>
    `type,key,count\n${Array.from({ length: count }, (_, i) => `page_view,${key(i)},1`).join('\n')}`
  const keys = async (content: string, name = '') => {
    const chunks = await Array.fromAsync(importChunks(readCountRows(pieces(content, 5_000)), name))
    return chunks.map(({ idempotencyKey }) => idempotencyKey)
  }

  it('have the same keys from CSV and JSON, and other ones under another name', async () => {
    const csv = rows(2_500, (i) => `/${i}`)
    const json = csv
      .split('\n')
      .slice(1)
      .map((line) => JSON.stringify({ type: 'page_view', key: line.split(',')[1], count: 1 }))
      .join('\n')
    expect(await keys(csv)).toHaveLength(3)
    expect(await keys(json)).toEqual(await keys(csv))
    expect(new Set([...(await keys(csv)), ...(await keys(csv, 'again'))]).size).toBe(6)
  })

  it('that are alike have keys of their own, the same ones in every run', async () => {
    const alike = rows(3_000, () => '/same')
    expect(new Set(await keys(alike)).size).toBe(3)
    expect(await keys(alike)).toEqual(await keys(alike))
  })

  it('before a change keep their keys', async () => {
    const before = await keys(rows(3_000, (i) => `/${i}`))
    const after = await keys(rows(3_000, (i) => (i === 2_500 ? '/corrected' : `/${i}`)))
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
    expect(after[2]).not.toBe(before[2])
  })

  it('stay within what a request may have', async () => {
    const chunks = await Array.fromAsync(
      importChunks(
        readCountRows(
          pieces(
            rows(2_000, (i) => `${'\u0001'.repeat(500)}${i}`),
            60_000,
          ),
        ),
        '',
      ),
    )
    for (const { counters } of chunks) expect(Buffer.byteLength(JSON.stringify({ counters }))).toBeLessThan(1024 * 1024)
    expect(chunks.length).toBeGreaterThan(2)
  })
})
