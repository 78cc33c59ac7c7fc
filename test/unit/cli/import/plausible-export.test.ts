import { describe, expect, it } from 'vitest'
import { readPlausibleExport } from '../../../../cli/import/plausible-export.ts'
import { exportedCounts, sample } from './exported-counts.ts'

const HEADER = '"date","hostname","page","visits","visitors","pageviews"\n'
const ROW = '"2026-11-01","site.example","/",2,1,3\n'
const read = (content: string | Buffer, size?: number) => exportedCounts(readPlausibleExport, content, size)

describe('The pages of a Plausible export', () => {
  it('give the page views of each page and day', async () => {
    for (const size of [1, 50, 100_000]) {
      expect(await read(await sample('plausible-pages.csv'), size)).toEqual({
        rows: [
          ['/', 14n, '2026-10-30'],
          ['/a "quoted", page', 2n, '2026-10-30'],
          ['/', 4n, '2026-10-31'],
        ],
        leftOut: {},
      })
    }
  })

  it('may be empty, have other columns, line breaks in a page and all digits of 64 bits', async () => {
    for (const content of ['', '\n', HEADER]) expect(await read(content)).toEqual({ rows: [], leftOut: {} })
    const content = `\uFEFFpageviews,page,date\r\n${2n ** 63n - 1n},"/a\nb",2026-11-01\r\n`
    expect((await read(content)).rows).toEqual([['/a%0Ab', 2n ** 63n - 1n, '2026-11-01']])
  })

  it('have the keys under which the pages are counted, though Plausible decodes paths', async () => {
    const paths = ['/café', '/100%', '/a b', '/日本語', '/caf%C3%A9']
    const { rows } = await read(HEADER + paths.map((path) => ROW.replace('"/"', `"${path}"`)).join(''))
    expect(rows.map(([key, count]) => [key, count])).toEqual([
      ['/100%25', 3n],
      ['/a b', 3n],
      ['/café', 6n],
      ['/日本語', 3n],
    ])
  })

  it.each<[string, string | Buffer, RegExp]>([
    [
      'another file of the export',
      '"date","entry_page","visitors","pageviews"\n',
      /^line 1: .*only imported_pages_….csv/,
    ],
    ['a column twice', `${HEADER.replace('"visits"', '"page"')}${ROW}`, /^line 1: the header/],
    ['two files one after the other', `${HEADER}${ROW}${HEADER}`, /^line 3: date/],
    ['too few cells', `${HEADER}${ROW}"2026-11-01"\n`, /^line 3: .*cells/],
    ['a date in the future', HEADER + ROW.replace('2026', '2999'), /^line 2: date must be a day/],
    ['a date that does not exist', HEADER + ROW.replace('11-01', '11-31'), /^line 2: date must be a day/],
    ['a negative number', HEADER + ROW.replace(',3', ',-3'), /^line 2: pageviews must be a whole number/],
    ['a number beyond 64 bits', HEADER + ROW.replace(',3', `,${2n ** 63n}`), /^line 2: pageviews must be .* 64 bits/],
    ['an endless number', HEADER + ROW.replace(',3', `,${'3'.repeat(10_000)}`), /^line 2: pageviews/],
    ['numbers whose sum is beyond 64 bits', HEADER + ROW.replace(',3', `,${2n ** 63n - 1n}`) + ROW, /^line 3: the sum/],
    ['a quotation mark that is not closed', `${HEADER}"2026-11-01","x,"/",1`, /^line \d: /],
    ['Latin-1', Buffer.from(HEADER + ROW.replace('/', '/ü'), 'latin1'), /^line \d: .*UTF-8/],
    ['JSON', '[{"date":"2026-11-01"}]', /^line 1: /],
  ])('with %s are refused, and the error names the line', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
    await expect(read(content, 100_000)).rejects.toThrow(message)
  })
})
