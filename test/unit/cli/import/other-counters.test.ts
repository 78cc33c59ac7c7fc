import { describe, expect, it } from 'vitest'
import type { ImportRow } from '../../../../cli/import/import-rows.ts'
import { OTHER_COUNTERS } from '../../../../cli/import/other-counters.ts'
import type { LeftOut, TakenOver } from '../../../../cli/import/taken-over.ts'
import { GITHUB_RELEASES, GOATCOUNTER, PLAUSIBLE } from '../../../harness/other-counters-exports.ts'

/** Reads an export in small pieces. */
async function read(from: keyof typeof OTHER_COUNTERS, text: string, taken: Partial<TakenOver> = {}) {
  async function* pieces() {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
  }
  const leftOut: LeftOut = new Map()
  const { read, type } = OTHER_COUNTERS[from]
  const rows = await Array.fromAsync(read(pieces(), { type, prefix: '', ...taken }, leftOut))
  const plain = ({ type, key, count, day }: ImportRow) => [type, key, Number(count), day ?? null]
  return { rows: rows.map(plain), leftOut: Object.fromEntries(leftOut) }
}

describe("GoatCounter's export", () => {
  it('is added up by page and day (UTC), without bots, events, visitors and rows from the future', async () => {
    expect(await read('goatcounter', GOATCOUNTER)).toEqual({
      rows: [
        ['page_view', '/', 2, '2026-10-31'],
        ['page_view', '/blog/a,b', 1, '2026-10-31'],
        ['page_view', '/', 1, '2026-11-01'],
      ],
      leftOut: {
        'visitors (see --visitors)': 3,
        'views by bots': 1,
        'events (see --events)': 1,
        'rows in the future': 1,
        'rows without a path': 1,
      },
    })
  })

  it('has events and visitors under types of their own, if they are wanted', async () => {
    const wanted = { type: 'page', visitors: 'visitor', events: 'click', prefix: 'blog.example' }
    const { rows, leftOut } = await read('goatcounter', GOATCOUNTER, wanted)
    expect(rows.sort()).toEqual([
      ['click', 'blog.exampleget-app', 1, '2026-11-01'],
      ['page', 'blog.example/', 1, '2026-11-01'],
      ['page', 'blog.example/', 2, '2026-10-31'],
      ['page', 'blog.example/blog/a,b', 1, '2026-10-31'],
      ['visitor', 'blog.example/', 1, '2026-10-31'],
      ['visitor', 'blog.example/', 1, '2026-11-01'],
      ['visitor', 'blog.example/blog/a,b', 1, '2026-10-31'],
    ])
    expect(Object.keys(leftOut)).toEqual(['views by bots', 'rows in the future', 'rows without a path'])
  })

  it('may be in the first version of its format', async () => {
    const header = '1Path,Title,Event,Bot,Session,FirstVisit,Referrer,Referrer scheme,Browser,Screen size,Location,Date'
    const row = '/old,Old,false,0,5,true,,,Firefox,,DE,2021-03-04T23:59:59Z'
    const { rows } = await read('goatcounter', `${header}\n${row}\n`)
    expect(rows).toEqual([['page_view', '/old', 1, '2021-03-04']])
  })

  const [header, first = ''] = GOATCOUNTER.split('\n')
  it.each([
    ['another file', 'type,key,count\na,b,1\n', /^line 1: this is not GoatCounter's CSV export/],
    ['another version', GOATCOUNTER.replace('2Path', '3Path'), /^line 1: version 3 .* not known/],
    ['a date that is none', `${header}\n${first.replace(/2026-\S+/, 'yesterday')}\n`, /^line 2: Date must be/],
    [
      'a flag that is none',
      `${header}\n${first.replace('false', 'perhaps')}\n`,
      /^line 2: Event must be true or false/,
    ],
    ['a row that ends early', `${header}\n${first}\n/x,y\n`, /^line 3: the row has more or fewer cells/],
  ])('is refused if it is %s, and the line is named', async (_, text, message) => {
    await expect(read('goatcounter', text)).rejects.toThrow(message)
  })
})

describe("Plausible's export", () => {
  it('is added up by page and day', async () => {
    expect(await read('plausible', PLAUSIBLE)).toEqual({
      rows: [
        ['page_view', '/', 12, '2026-10-31'],
        ['page_view', '/about', 3, '2026-10-31'],
        ['page_view', '/', 4, '2026-11-01'],
      ],
      leftOut: { 'visitors (see --visitors)': 13, 'rows in the future': 1 },
    })
    const { rows } = await read('plausible', PLAUSIBLE, { visitors: 'visitor', prefix: 'blog.example' })
    expect(rows.filter(([type]) => type === 'visitor')).toEqual([
      ['visitor', 'blog.example/', 7, '2026-10-31'],
      ['visitor', 'blog.example/about', 2, '2026-10-31'],
      ['visitor', 'blog.example/', 4, '2026-11-01'],
    ])
  })

  it.each([
    ['another of its files', 'date,visitors,pageviews\n2026-11-01,1,1\n', /^line 1: .*imported_pages/],
    ['the zip', 'PK\x03\x04 and so on', /^this is a zip file: unpack it/],
    ['not made of numbers', 'date,page,pageviews\n2026-11-01,/,1.5\n', /^line 2: pageviews must be a whole number/],
    ['not made of days', 'date,page,pageviews\n2026-11-01,/,1\nNov 2,/,1\n', /^line 3: date must be a day/],
  ])('is refused if it is %s', async (_, text, message) => {
    await expect(read('plausible', text)).rejects.toThrow(message)
  })
})

describe("GitHub's releases", () => {
  it('become totals of downloads under TAG/NAME, without drafts', async () => {
    const expected = {
      rows: [
        ['download', 'v1.1.0/app-1.1.0.tgz', 4711, null],
        ['download', 'v1.0.0/app-1.0.0.tgz', 20, null],
      ],
      leftOut: { 'files of drafts': 1 },
    }
    expect(await read('github-releases', GITHUB_RELEASES)).toEqual(expected)
    // As `gh api --paginate --slurp` writes it.
    expect(await read('github-releases', `[${GITHUB_RELEASES},[]]`)).toEqual(expected)
  })

  it.each([
    ['not JSON', '[{"tag_name":', /^this is not a list in JSON/],
    ['an error of the API', '{"message":"Not Found"}', /^this is not a list in JSON/],
    ['something else', '[{"name":"v1"}]', /^release 1 of the file: tag_name must be a text/],
    [
      'wrong numbers',
      '[{"tag_name":"v1","assets":[{"name":"a","download_count":-1}]}]',
      /^release 1 of the file: assets\.0\.download_count must not be below zero/,
    ],
  ])('are refused if they are %s', async (_, text, message) => {
    await expect(read('github-releases', text)).rejects.toThrow(message)
  })
})
