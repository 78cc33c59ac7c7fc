import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readGoatCounterExport } from '../../../../cli/import/goatcounter-export.ts'
import { exportedCounts, sample } from './exported-counts.ts'

const HEADER =
  '2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date\n'
const HIT = '/,Start,0,,,,s,0,,,,,1,2026-11-01T10:00:00Z\n'
const PATH = '{"id":1,"path":"/"}\n'
const read = (content: string | Buffer, size?: number) => exportedCounts(readGoatCounterExport, content, size)

describe('An export of GoatCounter', () => {
  it('as CSV gives the page views of each path and day (UTC), without bots and events', async () => {
    for (const size of [1, 50, 100_000]) {
      expect(await read(await sample('goatcounter-2.csv'), size)).toEqual({
        rows: [
          ['/', 2n, '2026-10-30'],
          ['/', 1n, '2026-10-31'],
          ['/a "quoted", page', 1n, '2026-10-31'],
          ['/a b?q=1', 1n, '2026-10-31'],
        ],
        leftOut: { bots: 1n, events: 2n },
      })
    }
  })

  it('may be of version 1', async () => {
    expect(await read(await sample('goatcounter-1.csv'))).toEqual({
      rows: [
        ['/', 1n, '2021-03-01'],
        ['/about', 1n, '2021-03-01'],
      ],
      leftOut: { bots: 1n },
    })
  })

  it('as JSON gives the visits of each path and day', async () => {
    expect(await read(await sample('goatcounter.jsonl'))).toEqual({
      rows: [
        ['/', 7n, '2026-10-30'],
        ['/a "quoted", page', 9n, '2026-10-31'],
      ],
      leftOut: { events: 5n },
    })
  })

  it('may be empty, have a byte order mark, and end its lines with CRLF', async () => {
    for (const content of ['', ' \n\n', HEADER]) expect(await read(content)).toEqual({ rows: [], leftOut: {} })
    const windows = `\uFEFF${HEADER}${HIT}`.replaceAll('\n', '\r\n')
    expect((await read(windows)).rows).toEqual([['/', 1n, '2026-11-01']])
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['no header', HIT, /^line 1: this is not an export of GoatCounter/],
    ['a header with semicolons', HEADER.replaceAll(',', ';'), /^line 1: this is not an export of GoatCounter/],
    ['a later version', HEADER.replace('2', '3') + HIT, /^line 1: this is version 3 of GoatCounter's CSV/],
    ['a column missing', HEADER.replace('Bot', 'Robot') + HIT, /^line 1: the header must have .*Bot/],
    ['a column twice', HEADER.replace('Title', 'Date') + HIT, /^line 1: the header must have .*Date/],
    ['a row that is too short', `${HEADER}${HIT}/,Start,0\n`, /^line 3: .*cells/],
    ['a quotation mark that is not closed', `${HEADER}${HIT}"/,${'x\n'.repeat(50_000)}`, /^line \d+: a quotation mark/],
    ['an event that is neither', HEADER + HIT.replace(',0,', ',maybe,'), /^line 2: Event/],
    ['a bot that is no number', HEADER + HIT.replace('s,0', 's,no'), /^line 2: Bot/],
    ['a huge bot', HEADER + HIT.replace('s,0', `s,${'9'.repeat(400)}`), /^line 2: Bot/],
    ['a date that does not exist', HEADER + HIT.replace('11-01', '02-30'), /^line 2: Date must be a time/],
    ['a date in the future', HEADER + HIT.replace('2026', '2999'), /^line 2: Date must be a time/],
    ['a date before 1970', HEADER + HIT.replace('2026', '1969'), /^line 2: Date must be a time/],
    ['a date of another form', HEADER + HIT.replace('2026-11-01T10:00:00Z', '1/11/2026'), /^line 2: Date/],
    ['Latin-1', Buffer.from(HEADER + HIT.replace('Start', 'Über'), 'latin1'), /^line \d: .*UTF-8/],
    ['UTF-16', Buffer.from(`\uFEFF${HEADER}`, 'utf16le'), /^line 1: .*UTF-8/],
    ['compression twice', gzipSync(HEADER), /^line 1: /],
    ['JSON that is no object', `${PATH}5\n`, /^line 2: this is not JSON lines/],
    ['JSON of another file', `${PATH}{"id":1,"ref":""}\n`, /^line 2: .*neither paths/],
    [
      'hits before paths',
      '{"hour":"2026-10-30T08:00:00Z","path_id":1,"count":4}\n',
      /^line 1: path_id is unknown; pass paths/,
    ],
    ['a fraction', `${PATH}{"hour":"2026-10-30T08:00:00Z","path_id":1,"count":0.5}\n`, /^line 2: count/],
    ['a negative count', `${PATH}{"hour":"2026-10-30T08:00:00Z","path_id":1,"count":-1}\n`, /^line 2: count/],
    [
      'a huge count',
      `${PATH}{"hour":"2026-10-30T08:00:00Z","path_id":1,"count":1${'0'.repeat(99)}}\n`,
      /^line 2: count/,
    ],
    ['an hour that is none', `${PATH}{"hour":5,"path_id":1,"count":1}\n`, /^line 2: hour/],
  ])('with %s is refused, and the error names the line', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
    await expect(read(content, 100_000)).rejects.toThrow(message)
  })
})
