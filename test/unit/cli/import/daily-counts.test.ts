import { describe, expect, it } from 'vitest'
import { DailyCounts } from '../../../../cli/import/daily-counts.ts'

const counts = (rules: { prefix?: string; before?: string } = {}) =>
  new DailyCounts({ type: 'page_view', prefix: '', ...rules })

describe('The counts of an export', () => {
  it('are one row for each key and day, in an order that does not depend on the file', () => {
    const additions: [string, bigint, string?][] = [
      ['/b', 1n, '2026-11-02'],
      ['/a', 2n, '2026-11-02'],
      ['/b', 3n, '2026-11-01'],
      ['/b', 4n, '2026-11-02'],
      ['/b', 5n],
      ['__proto__', 6n, '2026-11-01'],
    ]
    const rowsOf = (order: typeof additions) => {
      const sums = counts()
      for (const [key, count, day] of order) sums.add(1, 'path', key, count, day)
      return sums.rows()
    }
    const row = (key: string, count: bigint, day?: string) => ({
      line: 1,
      type: 'page_view',
      key,
      count,
      ...(day && { day }),
    })
    expect(rowsOf(additions)).toEqual([
      row('/b', 5n),
      row('/b', 3n, '2026-11-01'),
      row('__proto__', 6n, '2026-11-01'),
      row('/a', 2n, '2026-11-02'),
      row('/b', 5n, '2026-11-02'),
    ])
    expect(rowsOf(additions.toReversed())).toEqual(rowsOf(additions))
  })

  it('have a prefix', () => {
    const sums = counts({ prefix: 'site.example' })
    sums.add(4, 'path', '/a', 1n, '2026-11-02')
    expect(sums.rows()).toEqual([{ line: 4, type: 'page_view', key: 'site.example/a', count: 1n, day: '2026-11-02' }])
  })

  it('end before a day', () => {
    const sums = counts({ before: '2026-11-02' })
    for (const day of ['2026-11-01', '2026-11-02', '2026-11-03']) sums.add(1, 'path', '/a', 2n, day)
    expect(sums.rows().map(({ day }) => day)).toEqual(['2026-11-01'])
    expect([...sums.leftOut]).toEqual([['2026-11-02 and later', 4n]])
  })

  it('leave out what no counter can be called, and say how much', () => {
    const sums = counts({ prefix: 'p' })
    sums.add(1, 'path', '', 1n)
    sums.add(1, 'path', 'nul\0', 2n)
    sums.add(1, 'path', '\ud800', 3n)
    sums.add(1, 'path', 'x'.repeat(512), 4n)
    sums.add(1, 'path', 'é'.repeat(256), 5n)
    sums.add(1, 'path', 'x'.repeat(511), 6n)
    sums.add(1, 'path', '', 0n)
    sums.add(1, 'path', '/zero', 0n)
    expect(sums.rows().map(({ count }) => count)).toEqual([6n])
    expect([...sums.leftOut]).toEqual([
      ['without a path', 1n],
      ['path is not a text', 5n],
      ['path longer than 512 bytes', 9n],
    ])
  })

  it('are within 64 bits together', () => {
    const sums = counts()
    sums.add(1, 'path', '/a', 2n ** 63n - 2n)
    sums.add(2, 'path', '/a', 1n)
    expect(sums.rows()[0]!.count).toBe(2n ** 63n - 1n)
    expect(() => sums.add(3, 'path', '/a', 1n)).toThrow(/^line 3: the sum/)
  })
})
