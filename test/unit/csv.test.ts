import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeFormulas, toCsv, unescapeFormulas } from '../../src/csv.ts'

/** Texts that are full of what matters to spreadsheets. */
const TEXT = fc.string({
  unit: fc.constantFrom("'", '"', ',', ';', '|', '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'é', 'a', ' '),
})

describe('A text that a spreadsheet would run is escaped, and comes back', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t'=1"],
    ['\r=1', "'\r=1"],
    ['\n=1', "'\n=1"],
    ['＝1', "'＝1"],
    ["'=1", "''=1"],
    ['/a;=1', "/a;'=1"],
    ["/a;'=1", "/a;''=1"],
    ['/a\t+1|-1', "/a\t'+1|'-1"],
    ['/a;b', '/a;b'],
    ["'quoted'", "'quoted'"],
    ["'", "'"],
    ['/a=b', '/a=b'],
    ['', ''],
  ])('%j as %j', (text, escaped) => {
    expect(escapeFormulas(text)).toBe(escaped)
    expect(unescapeFormulas(escaped)).toBe(text)
  })

  it('at whatever separator the spreadsheet splits', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        for (const separator of [';', '\t', '|']) {
          for (const cell of escapeFormulas(text).split(separator)) expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
        }
        expect(unescapeFormulas(escapeFormulas(text))).toBe(text)
      }),
      { numRuns: 5_000 },
    )
  })
})

it('Every text and every count comes back from a CSV file', () => {
  fc.assert(
    fc.property(TEXT, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), (key, count) => {
      const csv = toCsv([
        ['key', 'count', 'before'],
        [`/${key}`, count, null],
        [key, count, 0],
      ])
      expect(csv).toMatch(/^"key","count","before"\r\n"\//)
      const rows = parse(csv, { record_delimiter: '\r\n', relax_column_count: false }) as string[][]
      expect(rows).toEqual([
        ['key', 'count', 'before'],
        [escapeFormulas(`/${key}`), String(count), ''],
        [escapeFormulas(key), String(count), '0'],
      ])
    }),
  )
})
