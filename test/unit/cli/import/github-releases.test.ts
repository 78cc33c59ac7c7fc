import { describe, expect, it } from 'vitest'
import { readGitHubReleases } from '../../../../cli/import/github-releases.ts'
import { exportedCounts, sample } from './exported-counts.ts'

const read = (content: string | Buffer, size?: number) => exportedCounts(readGitHubReleases, content, size)
const release = (asset: unknown, tag: unknown = 'v1') => JSON.stringify({ tag_name: tag, assets: [asset] })
const RELEASE = release({ name: 'a.zip', download_count: 2 })

describe('The releases of a repository', () => {
  it('give the downloads of each file under its tag, without days', async () => {
    const pages = Buffer.concat([await sample('github-releases-1.json'), await sample('github-releases-2.json')])
    for (const size of [1, 50, 100_000]) {
      expect(await read(pages, size)).toEqual({
        rows: [
          ['v0.9.0/app-linux.tar.gz', 5n, null],
          ['v1.1.0/app windows.zip', 7n, null],
          ['v1.1.0/app-linux.tar.gz', 30n, null],
        ],
        leftOut: {},
      })
    }
  })

  it.each([
    ['an array', `[${RELEASE}]`],
    ['pages that follow each other', `[${RELEASE}][]`],
    ['pages in an array', `[[${RELEASE}],[]]`],
    ['one release', RELEASE],
    ['nothing but the members that count, with a byte order mark', `\uFEFF\r\n${RELEASE}\r\n`],
  ])('may be %s', async (_, content) => {
    expect((await read(content)).rows).toEqual([['v1/a.zip', 2n, null]])
  })

  it('may be a list with a page twice: each download counts as often as it is listed', async () => {
    expect((await read(`[${RELEASE}][${RELEASE}]`)).rows).toEqual([['v1/a.zip', 4n, null]])
  })

  it('keep all digits, and may be empty', async () => {
    const largest = RELEASE.replace('2', `${2n ** 63n - 1n}`)
    expect((await read(largest)).rows[0]![1]).toBe(2n ** 63n - 1n)
    for (const content of ['', ' \n', '[]', '[][]']) expect(await read(content)).toEqual({ rows: [], leftOut: {} })
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['an answer that is an error', '{"message":"Not Found","status":"404"}', /^line 1: .*GitHub answered "Not Found"/],
    ['text', 'Not Found', /^line 1: .*not JSON/],
    ['an end that is missing', `[${RELEASE}]\n\n[${RELEASE}`, /^line 3: .*not JSON, or it ends too early/],
    ['a string that is not closed', '["', /^line 1: .*not JSON/],
    ['a bracket too many', `[${RELEASE}]]`, /^line 1: .*not JSON/],
    ['a page of HTML', '<html>[]</html>', /^line 1: .*not JSON/],
    ['no tag', release({ name: 'a', download_count: 1 }, null), /^line 1: this is not a release/],
    ['a number', '[5]', /^line 1: this is not a release/],
    ['null', '[null]', /^line 1: this is not a release/],
    ['an asset that is null', release(null), /^line 1: an asset of the release "v1" has no name/],
    ['a count that is a text', release({ name: 'a', download_count: 'x' }), /^line 1: download_count of "a" of/],
    ['a negative count', release({ name: 'a', download_count: -1 }), /^line 1: download_count/],
    ['a fraction', release({ name: 'a', download_count: 1.5 }), /^line 1: download_count/],
    ['an exponent', RELEASE.replace('2', '1e400'), /^line 1: download_count/],
    ['a count beyond 64 bits', RELEASE.replace('2', `${2n ** 63n}`), /^line 1: download_count/],
    [
      'a name with escapes for the terminal',
      release({ name: '\u001b[2J\u202e', download_count: -1 }),
      /^line 1: .*"\\u\{1B\}\[2J\\u\{202E\}"/,
    ],
    ['Latin-1', Buffer.from(release({ name: 'ü' }), 'latin1'), /^line 1: .*UTF-8/],
    ['UTF-16', Buffer.from(`\uFEFF${RELEASE}`, 'utf16le'), /^line 1: .*UTF-8/],
    ['ten thousand brackets', '['.repeat(10_000), /^line 1: .*not JSON/],
    ['deep arrays', `${'['.repeat(10)}${']'.repeat(10)}`, /^line 1: this is not a release/],
  ])('with %s are refused, and the error names the line', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
    await expect(read(content, 100_000)).rejects.toThrow(message)
  })
})
