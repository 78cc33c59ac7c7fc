import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DailyCounts, escapeDecoded } from '../../../../cli/import/daily-counts.ts'
import { pageKey } from '../../../../src/counters/keys/key-address.ts'

const DAY = '2026-11-02'
const counts = (rules: { prefix?: string; before?: string; query?: false; host?: string } = {}) =>
  new DailyCounts({ type: 'page_view', prefix: '', query: true, ...rules })

describe('The counts of an export', () => {
  it('are one row for each key and day, in an order that does not depend on the file', () => {
    const additions: [string, bigint, string][] = [
      ['/b', 1n, '2026-11-02'],
      ['/a', 2n, '2026-11-02'],
      ['/b', 3n, '2026-11-01'],
      ['/b', 4n, '2026-11-02'],
      ['__proto__', 6n, '2026-11-01'],
    ]
    const rowsOf = (order: typeof additions) => {
      const sums = counts()
      for (const [key, count, day] of order) sums.addPath(1, key, count, day)
      return sums.rows()
    }
    const row = (key: string, count: bigint, day: string) => ({ line: 1, type: 'page_view', key, count, day })
    expect(rowsOf(additions)).toEqual([
      row('/b', 3n, '2026-11-01'),
      row('__proto__', 6n, '2026-11-01'),
      row('/a', 2n, '2026-11-02'),
      row('/b', 5n, '2026-11-02'),
    ])
    expect(rowsOf(additions.toReversed())).toEqual(rowsOf(additions))
  })

  it('have a prefix', () => {
    const sums = counts({ prefix: 'site.example' })
    sums.addPath(4, '/a', 1n, '2026-11-02')
    expect(sums.rows()).toEqual([{ line: 4, type: 'page_view', key: 'site.example/a', count: 1n, day: '2026-11-02' }])
  })

  /** The key of a path, as tools that store it encoded and as tools that store it decoded write it. */
  const keyOf = (path: string, rules?: { query: false }) => {
    const sums = counts(rules)
    sums.addPath(1, path, 1n, '2026-11-02')
    return sums.rows()[0]!.key
  }

  it.each([
    ['/caf%C3%A9', '/café'],
    ['/caf%c3%a9/%E6%97%A5%E6%9C%AC', '/café/日本'],
    ['/%7Euser', '/~user'],
    ['/a%20b', '/a b'],
    ['/a%2fb%3Fc%23d%25', '/a%2Fb%3Fc%23d%25'],
    ['/line%0abreak', '/line%0Abreak'],
    ['/caf%E9', '/caf%E9'],
    ['/100%-off', '/100%-off'],
    ['/find?q=caf%C3%A9%26c&%20', '/find?q=café%26c& '],
    ['/caf%C3%A9;sid=1?q=%2b;sid=1', '/café?q=%2B;sid=1'],
    ['/#/caf%C3%A9', '/#/café'],
  ])('of the path %s have the key of the page, %s', (path, key) => {
    expect(keyOf(path)).toBe(key)
  })

  // A decoded path with "%41" is ambiguous: its page is "/%2541", or it was not decoded.
  const segment = fc
    .string({
      minLength: 1,
      maxLength: 6,
      unit: fc.oneof(
        fc.constantFrom('%', ' ', 'é', '日', '~', ';', '&', '+', '\n', '\0', 'a', 'Z'),
        fc.string({ maxLength: 1, unit: 'binary' }),
      ),
    })
    .filter((text) => text.trim() === text && text.isWellFormed() && !/^\.{0,2}$|[/?#]|%[\da-f]{2}/i.test(text))

  it('of a page have its key, as GoatCounter stores its path (encoded), and Plausible and Umami (decoded)', () => {
    fc.assert(
      fc.property(
        fc.array(segment, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(encodeURIComponent, encodeURI),
        (segments, encode) => {
          const { pathname } = new URL(`https://site.example/${segments.map(encode).join('/')}`)
          const key = pageKey(pathname)
          expect(keyOf(pathname)).toBe(key)
          expect(keyOf(escapeDecoded(decodeURIComponent(pathname)))).toBe(key)
          expect(keyOf(escapeDecoded(decodeURI(pathname)))).toBe(key)
        },
      ),
      {
        numRuns: 500,
        examples: [
          [['100%', '50%-off'], encodeURI],
          [['line\nbreak', '\0'], encodeURIComponent],
        ],
      },
    )
  })

  it('of one page are one row, however its path is spelled', () => {
    const sums = counts()
    for (const path of ['/caf%C3%A9', '/caf%c3%a9', '/cafe\u0301', '/c%61fé;jsessionid=1'])
      sums.addPath(1, path, 2n, '2026-11-02')
    expect(sums.rows().map(({ key, count }) => [key, count])).toEqual([['/café', 8n]])
  })

  it('of a path with 57 Chinese characters have a key, although its encoded path is longer than 512 bytes', () => {
    const path = '/日'.repeat(57)
    expect(keyOf(encodeURI(path))).toBe(path)
  })

  it.each([
    ['/post?utm_source=x', '/post'],
    ['/post#comments', '/post'],
    ['/post?a#b?c', '/post'],
    ['/post#b?c', '/post'],
    ['/app#/about?tab=1', '/app#/about'],
    ['/app#!/about', '/app#!/about'],
    ['/multi?line\nquery', '/multi'],
    ['/a%3Fb%23c', '/a%3Fb%23c'],
  ])('without queries, count %j as %j', (path, key) => {
    expect(keyOf(path, { query: false })).toBe(key)
  })

  it('end before a day', () => {
    const sums = counts({ before: '2026-11-02' })
    for (const day of ['2026-11-01', '2026-11-02', '2026-11-03']) sums.addPath(1, '/a', 2n, day)
    expect(sums.rows().map(({ day }) => day)).toEqual(['2026-11-01'])
    expect([...sums.leftOut]).toEqual([['2026-11-02 and later', 4n]])
  })

  it('are distinguished by host, and come from one host only if one is chosen', () => {
    for (const [host, sum, leftOut] of [
      [undefined, 7n, []],
      ['b.example', 2n, [['other hosts', 5n]]],
      ['B.example', undefined, [['other hosts', 7n]]],
    ] as const) {
      const sums = counts(host === undefined ? {} : { host })
      sums.addPath(1, '/a', 1n, '2026-11-02', 'a.example')
      sums.addPath(2, '/%61', 2n, '2026-11-02', 'b.example')
      sums.addPath(3, '/a', 4n, '2026-11-02')
      expect([sums.rows()[0]?.count, [...sums.leftOut]]).toEqual([sum, leftOut])
      expect([...sums.hosts]).toEqual(['a.example', 'b.example'])
    }
  })

  it('leave out paths that cannot be keys, and say how many', () => {
    const sums = counts({ prefix: 'p' })
    sums.addPath(1, '', 1n, DAY)
    sums.addPath(1, 'nul\0', 2n, DAY)
    sums.addPath(1, '\ud800', 3n, DAY)
    sums.addPath(1, 'x'.repeat(512), 4n, DAY)
    sums.addPath(1, 'é'.repeat(256), 5n, DAY)
    sums.addPath(1, 'x'.repeat(511), 6n, DAY)
    sums.addPath(1, '', 0n, DAY)
    sums.addPath(1, '/zero', 0n, DAY)
    expect(sums.rows().map(({ count }) => count)).toEqual([6n])
    expect([...sums.leftOut]).toEqual([
      ['without a path', 1n],
      ['path is not valid text', 5n],
      ['path longer than 512 bytes', 9n],
    ])
  })

  it('are within 64 bits together', () => {
    const sums = counts()
    sums.addPath(1, '/a', 2n ** 63n - 2n, DAY)
    sums.addPath(2, '/a', 1n, DAY)
    expect(sums.rows()[0]!.count).toBe(2n ** 63n - 1n)
    expect(() => sums.addPath(3, '/a', 1n, DAY)).toThrow(/^line 3: the sum/)
  })
})
