import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutQuery } from '../../../../cli/import/daily-counts.ts'
import { SimilarKeys } from '../../../../cli/import/similar-keys.ts'
import { type Spelling, spellingOf } from '../../../../src/counters/keys/key-address.ts'

function summaryOf(imported: string[], existing: string[] = [], sameKey: Spelling[] = []): string | null {
  const similar = new SimilarKeys(imported, sameKey)
  for (const key of existing) similar.compare(key)
  return similar.summary()
}

describe('The summary of an import', () => {
  it.each<[string, string[], string[], string]>([
    [
      'a slash at the end',
      ['/gc/post', '/gc/other'],
      ['/gc/post/', '/gc/else'],
      'Not joined: 1 key that differs from others only by a slash at the end (1), such as "/gc/post" and "/gc/post/". What joins them: same_key = ["trailing_slash"].',
    ],
    [
      'letter case',
      ['/A', '/b'],
      ['/a', '/B', '/c'],
      'Not joined: 2 keys that differ from others only by letter case (2), such as "/A" and "/a". What joins them: same_key = ["letter_case"].',
    ],
    [
      'an index file',
      ['/blog/index.html'],
      ['/blog/'],
      'Not joined: 1 key that differs from others only by an index file (1), such as "/blog/index.html" and "/blog/". What joins them: same_key = ["index_file"].',
    ],
    [
      'a query',
      ['/q?x=1', '/q?x=2'],
      ['/q'],
      'Not joined: 2 keys that differ from others only by a query or fragment (2), such as "/q?x=1" and "/q?x=2". What joins them: --no-query.',
    ],
    [
      'a fragment',
      ['/post#comments'],
      ['/post'],
      'Not joined: 1 key that differs from others only by a query or fragment (1), such as "/post#comments" and "/post". What joins them: --no-query.',
    ],
    [
      'several differences at once',
      ['/Post/?a=1'],
      ['/post'],
      'Not joined: 1 key that differs from others only by letter case (1), a slash at the end (1), a query or fragment (1), such as "/Post/?a=1" and "/post". What joins them: same_key = ["letter_case","trailing_slash"] and --no-query.',
    ],
    [
      'a slash at the end of a query',
      ['/q?from=/a/'],
      ['/q?from=/a'],
      'Not joined: 1 key that differs from others only by a slash at the end (1), such as "/q?from=/a/" and "/q?from=/a". What joins them: same_key = ["trailing_slash"].',
    ],
    [
      'a slash before a query',
      ['/q/?x=1'],
      ['/q?x=1'],
      'Not joined: 1 key that differs from others only by a slash at the end (1), a query or fragment (1), such as "/q/?x=1" and "/q?x=1". What joins them: same_key = ["trailing_slash"] and --no-query.',
    ],
    [
      'differences between imported keys',
      ['/x', '/x/', '/X', '/y'],
      [],
      'Not joined: 3 keys that differ from others only by letter case (3), a slash at the end (3), such as "/x" and "/x/". What joins them: same_key = ["letter_case","trailing_slash"].',
    ],
    [
      'characters that a terminal would obey',
      ['/\u202ex\u009b31m'],
      ['/\u202eX\u009b31m'],
      'Not joined: 1 key that differs from others only by letter case (1), such as "/\\u{202E}x\\u{9B}31m" and "/\\u{202E}X\\u{9B}31m". What joins them: same_key = ["letter_case"].',
    ],
  ])('tells how many keys are not joined because of %s, and what joins them', (_, imported, existing, summary) => {
    expect(summaryOf(imported, existing)).toBe(summary)
  })

  it('says nothing about keys that differ by more, are the same, or are not imported', () => {
    expect(summaryOf([])).toBeNull()
    expect(summaryOf(['/a', '/a', '/b'], ['/a', '/b', '/c', '/c/', '/C?x'])).toBeNull()
    expect(summaryOf(['/app#/a', '/app#/b', '/app#!/c'], ['/app'])).toBeNull()
    expect(summaryOf(['/'], ['/index', '/a'])).toBeNull()
  })

  it('knows which spellings the type joins', () => {
    expect(summaryOf(['/a/'], ['/a'], ['trailing_slash'])).toBeNull()
    expect(summaryOf(['/a', '/a/'], [], ['trailing_slash'])).toBeNull()
    expect(summaryOf(['/B/'], ['/b'], ['trailing_slash'])).toContain(
      'by letter case (1), such as "/B" and "/b". What joins them: same_key = ["letter_case","trailing_slash"].',
    )
  })

  it('names no option for queries of counters that exist, because only they have one', () => {
    expect(summaryOf(['/q', '/a'], ['/q?x=1'])).toBe(
      'Not joined: 1 key that differs from others only by a query or fragment (1), such as "/q" and "/q?x=1".',
    )
  })

  it('names settings that join the keys it is about', () => {
    const part = fc.constantFrom('/', 'a', 'A', '?', '#a', 'index.html', 'é')
    const key = fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join('')}`)
    fc.assert(
      fc.property(
        fc.array(key, { minLength: 1, maxLength: 6 }),
        fc.array(key, { maxLength: 6 }),
        (imported, existing) => {
          const summary = summaryOf(imported, existing)
          if (summary === null) return
          const hasQueries = imported.some((text) => withoutQuery(text) !== text)
          const spellings = /same_key = (\[.*?\])/.exec(summary)?.[1] ?? '[]'
          const joined = (text: string) => {
            const kept = summary.includes('--no-query') || !hasQueries ? withoutQuery(text) : text
            return spellingOf(kept, JSON.parse(spellings) as Spelling[])
          }
          expect(summaryOf(imported.map(joined), existing.map(joined))).toBeNull()
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
