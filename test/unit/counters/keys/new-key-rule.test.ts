import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesPattern } from '../../../../src/counters/keys/new-key-budgets.ts'

describe('A pattern', () => {
  it.each([
    ['/blog/*', '/blog/hello'],
    ['/blog/*', '/blog/'],
    ['/blog/*', '/blog/2026/11/hello'],
    ['*', ''],
    ['*', '/anything/at all?x=*'],
    ['**', '/a'],
    ['/a', '/a'],
    ['*.html', '/a/b.html'],
    ['/*/comments/*', '/post/comments/7'],
    ['a*b*a', 'aba'],
    ['a*ab', 'aaab'],
    ['/a.c', '/a.c'],
    ['/[a-z]?', '/[a-z]?'],
  ])('%s matches %j', (pattern, key) => {
    expect(matchesPattern(pattern, key)).toBe(true)
  })

  it.each([
    ['/blog/*', '/blog'],
    ['/blog/*', '/Blog/hello'],
    ['/blog/*', 'x/blog/hello'],
    ['/a', '/a/'],
    ['', '/a'],
    ['*.html', '/a.htm'],
    ['aba*aba', 'aba'],
    ['a*b*a', 'aa'],
    ['a*bb*b', 'abb'],
    ['/a.c', '/abc'],
    ['/[a-z]', '/a'],
  ])('%s does not match %j', (pattern, key) => {
    expect(matchesPattern(pattern, key)).toBe(false)
  })

  it('matches what a regular expression with .* in place of * matches', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '/', '\n'), maxLength: 12 })
    fc.assert(
      fc.property(text, text, (pattern, key) => {
        const parts = pattern.split('*').map((part) => part.replace(/\W/g, '\\$&'))
        expect(matchesPattern(pattern, key)).toBe(new RegExp(`^${parts.join('.*')}$`, 's').test(key))
      }),
      { numRuns: 5_000 },
    )
  })

  it('with hundreds of stars is matched in few steps', () => {
    // A backtracking matcher would not come back.
    expect(matchesPattern(`${'*a'.repeat(250)}*b`, 'a'.repeat(8_000))).toBe(false)
  })
})
