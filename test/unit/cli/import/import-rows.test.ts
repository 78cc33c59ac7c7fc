import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EXPORT_FORMATS, type ExportedRow } from '../../../../cli/export/export-format.ts'
import { importBatches } from '../../../../cli/import/cut-import-batches.ts'
import { type ImportRow, readImportRows } from '../../../../cli/import/import-rows.ts'
import { readText } from '../../../../cli/import/input-text.ts'
import { Mistakes } from '../../../../cli/import/mistakes.ts'
import { pieces } from './exported-counts.ts'

const read = async (content: string | Buffer, size = 7) => {
  const mistakes = new Mistakes()
  const text = await readText(pieces(content, size))
  return mistakes.all(() => Array.fromAsync(readImportRows(text, mistakes)))
}
const plain = (rows: readonly ImportRow[]) =>
  rows.map(({ type, key, count, day }) => [type, key, count, day ?? null] as const)

describe('A file to import', () => {
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
      'JSON lines',
      '{"type":"page_view","key":"/a","count":5,"day":"2026-11-01"}\n{"type":"page_view","key":"/b,\\"c\\"\\n","count":-7}',
    ],
    [
      'JSON lines with CRLF, blank lines and no day as null',
      '\r\n{"type":"page_view","key":"/a","count":5,"day":"2026-11-01"}\r\n \n {"type":"page_view","key":"/b,\\"c\\"\\n","count":-7,"day":null}\r\n',
    ],
  ])('may be %s, read in pieces of any size', async (_, content) => {
    for (const size of [1, 2, 7, 10_000]) {
      expect(plain(await read(content, size))).toEqual([
        ['page_view', '/a', 5n, '2026-11-01'],
        ['page_view', '/b,"c"\n', -7n, null],
      ])
    }
  })

  it('may have blanks around its cells, which do not belong to keys; quoted blanks do', async () => {
    const content =
      ' type ,\tkey, count , day\npage_view, /x , 5 ,\n \t \n  download ,\t/a b\t,-1, 2026-11-01 \r\n page_view , " /y " , 7 ,\n' +
      'page_view," /z ",8,\n'
    for (const size of [1, 7, 10_000]) {
      expect(plain(await read(content, size))).toEqual([
        ['page_view', '/x', 5n, null],
        ['download', '/a b', -1n, '2026-11-01'],
        ['page_view', ' /y ', 7n, null],
        ['page_view', ' /z ', 8n, null],
      ])
    }
    expect(plain(await read('{"type":"a","key":" /x ","count":1}'))).toEqual([['a', ' /x ', 1n, null]])
  })

  it('keeps all digits of a count', async () => {
    expect(plain(await read('{"type":"a","key":"k","count":9223372036854775807}'))[0]![2]).toBe(2n ** 63n - 1n)
    expect(plain(await read('type,key,count\na,k,-9223372036854775807'))[0]![2]).toBe(-(2n ** 63n) + 1n)
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['no header', 'page_view,/a,5\n', /^line 1: the header must be/],
    ['an unknown column', 'type,key,count,colour\na,b,1,red\n', /^line 1: the header must be/],
    ['a column twice', 'type,key,key,count\na,b,b,1\n', /^line 1: the header must be/],
    ['too few cells', 'type,key,count\na,b,1\na,b\n', /^line 3: .*cells/],
    ['too many cells', 'type,key,count\na,b,1\n\na,b,1,2\n', /^line 4: .*cells/],
    ['an unclosed quotation mark', 'type,key,count\na,b,1\na,"b,1\n', /^line \d: .*quotation mark/],
    [
      'an unclosed quotation mark in a long file',
      `type,key,count\na,"${'b\n'.repeat(50_000)}`,
      /^line \d+: .*quotation mark/,
    ],
    ['a count that is not a number', 'type,key,count\na,b,1\na,b,five\n', /^line 3: count must be a whole number/],
    ['a fraction', 'type,key,count\na,b,1.5\n', /^line 2: count/],
    ['a count beyond 64 bits', 'type,key,count\na,b,9223372036854775808\n', /^line 2: count must be within 64 bits/],
    ['a day that does not exist', 'type,key,count,day\na,b,1,2026-02-30\n', /^line 2: day/],
    ['a day in the future', 'type,key,count,day\na,b,1,2999-01-01\n', /^line 2: day/],
    ['no key', 'type,key,count\na,,1\n', /^line 2: key/],
    ['blanks for a key', 'type,key,count\na, ,1\n', /^line 2: key/],
    [
      'an array on one line',
      '[{"type":"a","key":"b","count":1}]',
      /^line 1: JSON arrays are not read; .*jq -c '\.\[\]'/,
    ],
    [
      'an array over several lines',
      '\n [\n{"type":"a","key":"b","count":1}\n]',
      /^2 lines are wrong:\nline 2: JSON arrays are not read/,
    ],
    ['an array after an object', '{"type":"a","key":"b","count":1}\n[]', /^line 2: JSON arrays are not read/],
    [
      'an object that is not closed',
      '{"type":"a","key":"b","count":1}\n{"type":"a"',
      /^line 2: this is not JSON lines/,
    ],
    [
      'an object over several lines',
      '{"type":"a","key":"b",\n"count":1}',
      /^2 lines are wrong:\nline 1: this is not JSON lines/,
    ],
    ['two objects on a line', '{"type":"a","key":"b","count":1} {"type":"a"}', /^line 1: this is not JSON lines/],
    ['a number between objects', '{"type":"a","key":"b","count":1}\n5\n', /^line 2: this is not JSON lines/],
    ['a line that is not JSON', '{"type":"a","key":"b","count":1}\n{"type":a}\n', /^line 2: this is not JSON lines/],
    ['a text for a count', '{"type":"a","key":"b","count":"x"}', /^line 1: count/],
    ['an unknown member', '{"type":"a","key":"b","count":1,"by":1}', /^line 1: an object may only have/],
    ['an endless line', `{"a":"${'x'.repeat(100_000)}"}`, /^line 1: the line is longer than 65536 characters/],
    ['an exponent', '{"type":"a","key":"b","count":1e3}', /^line 1: count/],
    ['compressed text', gzipSync('type,key,count\n'), /UTF-8|header/],
    ['random bytes', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 256)), /^line \d+: /],
  ])('with %s is refused, and the error names the line', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
    await expect(read(content, 100_000)).rejects.toThrow(message)
  })

  it('is read to its end, and the error names every line that is wrong', async () => {
    const csv = 'type,key,count,day\na,b,1,\na,b,x,\na,b\na,,1,\na,b,1,2999-01-01\na,b,2,\na,b,1,,\n'
    for (const size of [1, 7, 10_000]) {
      await expect(read(csv, size)).rejects.toThrow(
        /^5 lines are wrong:\nline 3: count.*\nline 4: .*cells.*\nline 5: key.*\nline 6: day.*\nline 8: .*cells.*$/,
      )
    }
    const json = '{"type":"a","key":"b","count":1}\n5\n{"type":"a"}\n\n{"type":"a","key":"b","count":1,"by":2}\n'
    await expect(read(json)).rejects.toThrow(/^3 lines are wrong:\nline 2: .*\nline 3: .*\nline 5: [^\n]*$/)
    // What follows cannot be read.
    const unclosed = 'type,key,count\na,b,x\na,"b,1\na,b,y\n'
    await expect(read(unclosed)).rejects.toThrow(/^2 lines are wrong:\nline 2: count.*\nline \d: .*quotation mark/)
  })

  it('with thousands of wrong lines has them counted and the first fifty named', async () => {
    const wrong = `type,key,count\n${'a,b,x\n'.repeat(3_000)}`
    const message = await read(wrong, 5_000).catch(({ message }: Error) => message)
    const [first, ...lines] = String(message).split('\n')
    expect([first, lines.length, lines.at(-1)]).toEqual(['3000 lines are wrong:', 51, 'and 2950 more'])
  })

  it('that is not UTF-8 is refused, and the error names about the line', async () => {
    const content = Buffer.from('type,key,count\na,b,1\na,\xff\n', 'latin1')
    await expect(read(content)).rejects.toThrow(/^line 3: .*UTF-8/)
  })

  it('may have no rows', async () => {
    for (const content of ['', '\n', '\n\n', 'type,key,count\n']) expect(await read(content)).toEqual([])
  })

  it('that was exported gives the same rows again, whatever the keys', async () => {
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
      count: fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }),
      day: fc.constantFrom(undefined, '2026-11-01', '1970-01-01'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 20 }),
        fc.constantFrom('csv' as const, 'json' as const),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(20),
        async (generated, format, size, cut) => {
          const rows = generated.map(({ day, ...row }): ExportedRow => ({ ...row, ...(day !== undefined && { day }) }))
          const { header, rows: write } = EXPORT_FORMATS[format]
          // In two pages, of which one may be empty.
          const content = header + write(rows.slice(0, cut)) + write(rows.slice(cut))
          if (format === 'json') {
            const lines = content.trimEnd().split('\n')
            expect(lines.map((line) => JSON.parse(line).key)).toHaveLength(rows.length)
          }
          const again = plain(await read(content, size))
          expect(again).toEqual(rows.map(({ type, key, count, day }) => [type, key, count, day ?? null]))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('The batches of an import', () => {
  const rows = (count: number, key: (i: number) => string) =>
    `type,key,count\n${Array.from({ length: count }, (_, i) => `page_view,${key(i)},1`).join('\n')}`
  const cut = async (content: string, name = '') => Array.fromAsync(importBatches(await read(content, 5_000), name))
  const keys = async (content: string, name?: string) =>
    (await cut(content, name)).map(({ idempotencyKey }) => idempotencyKey)

  it('have the same keys from CSV and from JSON, and other keys under another name', async () => {
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

  it('have different keys if they are equal, and the same keys in every run', async () => {
    const alike = rows(3_000, () => '/same')
    expect(new Set(await keys(alike)).size).toBe(3)
    expect(await keys(alike)).toEqual(await keys(alike))
  })

  it('keep their keys if a later row changes', async () => {
    const before = await keys(rows(3_000, (i) => `/${i}`))
    const after = await keys(rows(3_000, (i) => (i === 2_500 ? '/corrected' : `/${i}`)))
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
    expect(after[2]).not.toBe(before[2])
  })

  it('fit into a request', async () => {
    const batches = await cut(rows(2_000, (i) => `${'\u0001'.repeat(500)}${i}`))
    for (const { counters } of batches) {
      expect(Buffer.byteLength(JSON.stringify({ counters }))).toBeLessThan(1024 * 1024)
    }
    expect(batches.length).toBeGreaterThan(2)
  })
})
