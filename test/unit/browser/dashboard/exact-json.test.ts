import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactly } from '../../../../src/browser/dashboard/exact-json.ts'

describe('JSON from the API', () => {
  it('is parsed like JSON, but whole numbers that would be rounded become strings with all their digits', () => {
    expect(parseExactly('{"count":9223372036854775807,"total":-9223372036854775808,"x":5}')).toEqual({
      count: '9223372036854775807',
      total: '-9223372036854775808',
      x: 5,
    })
    expect(parseExactly('[1.5, 2e3, 1234567890123456.5, 1234567890123456e3]')).toEqual([
      1.5, 2000, 1234567890123456.5, 1234567890123456e3,
    ])
  })

  it('keeps strings unchanged, even if they look like numbers', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        const exact = JSON.stringify(parseExactly(text), (_, part: unknown) =>
          typeof part === 'string' && /^-?\d{16,}$/.test(part) ? Number(part) : part,
        )
        const plain = JSON.stringify(JSON.parse(text), (_, part: unknown) =>
          typeof part === 'string' && /^-?\d{16,}$/.test(part) ? Number(part) : part,
        )
        expect(exact).toBe(plain)
      }),
      { numRuns: 500 },
    )
    for (const key of [
      '9223372036854775807',
      '"9223372036854775807"',
      '\\"1234567890123456789\\',
      '{"a":12345678901234567}',
    ]) {
      expect(parseExactly(JSON.stringify({ key, [key]: 1 }))).toEqual({ key, [key]: 1 })
    }
  })
})
