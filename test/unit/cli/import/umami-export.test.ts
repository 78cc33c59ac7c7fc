import { describe, expect, it } from 'vitest'
import { readUmamiExport } from '../../../../cli/import/umami-export.ts'
import { exportedCounts, sample } from './exported-counts.ts'

const HEADER = 'event_id,url_path,url_query,event_type,created_at\n'
const ROW = 'e1,/,,1,2026-11-01 10:00:00\n'
const read = (content: string | Buffer, size?: number) => exportedCounts(readUmamiExport, content, size)

describe('The events of an Umami export', () => {
  it('give the page views of each path and day (UTC), without other events', async () => {
    for (const size of [1, 50, 100_000]) {
      expect(await read(await sample('umami.csv'), size)).toEqual({
        rows: [
          ['/', 1n, '2026-10-30'],
          ['/café', 1n, '2026-10-30'],
          ['/a "quoted", page#part', 1n, '2026-10-31'],
          ['/café', 1n, '2026-10-31'],
        ],
        leftOut: { events: 2n, 'without a path': 1n },
      })
    }
  })

  it('have the keys under which the pages are counted, though Umami decodes paths unless that fails', async () => {
    const paths = ['/a%2Fb', '/50%', '/a%3Bb;c', '/caf%E9', '/%E6%97%A5', '/日']
    const { rows } = await read(HEADER + paths.map((path) => ROW.replace('/', path)).join(''))
    expect(rows.map(([key, count]) => [key, count])).toEqual([
      ['/50%25', 1n],
      ['/a%2Fb', 1n],
      ['/a;b;c', 1n],
      ['/caf%E9', 1n],
      ['/日', 2n],
    ])
  })

  it.each([
    ['PostgreSQL', '2026-10-31 00:30:00.123456+00', '2026-10-31'],
    ['PostgreSQL, in another time zone', '2026-10-31 00:30:00+02', '2026-10-30'],
    ['PostgreSQL, in India', '2026-10-31 05:29:59+05:30', '2026-10-30'],
    ['MySQL', '2026-10-31 00:30:00', '2026-10-31'],
    ['a clock with leap seconds', '2016-12-31 23:59:60.5', '2016-12-31'],
    ['JSON', '2026-10-31T23:30:00.000Z', '2026-10-31'],
  ])('may have times as %s writes them', async (_, time, day) => {
    expect((await read(`created_at,event_type,url_path\n${time},1,/\n`)).rows).toEqual([['/', 1n, day]])
  })

  it('may be empty, have a byte order mark, and end its lines with CRLF', async () => {
    for (const content of ['', '\n', HEADER]) expect(await read(content)).toEqual({ rows: [], leftOut: {} })
    const windows = `\uFEFF${HEADER}${ROW}`.replaceAll('\n', '\r\n')
    expect((await read(windows)).rows).toEqual([['/', 1n, '2026-11-01']])
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['the pages of a server of one’s own', 'x,y\n/,5\n', /^line 1: the header must have .*only website_event.csv/],
    ['another file of the export', 'website_id,event_id,url_path,created_at\n', /^line 1: the header must have/],
    ['a column twice', `${HEADER.replace('event_id', 'url_path')}${ROW}`, /^line 1: the header must have/],
    ['two files one after the other', `${HEADER}${ROW}${HEADER}`, /^line 3: event_type/],
    ['an event type that is a name', HEADER + ROW.replace(',1,', ',pageview,'), /^line 2: event_type/],
    ['no event type', HEADER + ROW.replace(',1,', ',,'), /^line 2: event_type/],
    ['a time that does not exist', HEADER + ROW.replace('11-01', '11-31'), /^line 2: created_at must be a time/],
    ['a time in the future', HEADER + ROW.replace('2026', '2999'), /^line 2: created_at must be a time/],
    ['seconds since 1970', HEADER + ROW.replace('2026-11-01 10:00:00', '1793527200'), /^line 2: created_at/],
    ['too few cells', `${HEADER}${ROW}e2,/\n`, /^line 3: .*cells/],
  ])('with %s are refused, and the error names the line', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
    await expect(read(content, 100_000)).rejects.toThrow(message)
  })
})
