import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  directionOf,
  parseExactly,
  readTypedCount,
  showGrowth,
  showUnits,
} from '../../../../src/browser/dashboard/formats.ts'
import type { Count } from '../../../../src/browser/dashboard/numbers-answer.ts'

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

const growth = (compared: Count | null, before: Count | null) => showGrowth({ compared, before })

describe('growth', () => {
  it('is a triangle and whole per cent if there was something before', () => {
    expect(growth(150, 100)).toBe('▲ 50%')
    expect(growth(0, 100)).toBe('▼ 100%')
    expect(growth(-100, 100)).toBe('▼ 200%')
    expect(growth(5, 0)).toBe('')
    expect(growth(5, -5)).toBe('')
    expect(growth('300000000000000000000', '100000000000000000000')).toBe('▲ 200%')
  })

  it('has no direction if it is below half a per cent', () => {
    expect(growth(100, 100)).toBe('0%')
    expect(growth(1_004, 1_000)).toBe('0%')
    expect(growth(996, 1_000)).toBe('0%')
    expect(growth(1_005, 1_000)).toBe('▲ 1%')
    expect(growth(994, 1_000)).toBe('▼ 1%')
  })

  it('is a factor from the tenfold on, and empty if nothing can be compared', () => {
    expect(growth(999, 100)).toBe('▲ 899%')
    expect(growth('9007199254740993', 1)).toBe('▲ ×9,007,199,254,740,993')
    expect(growth(null, 5)).toBe('')
    expect(growth(5, null)).toBe('')
  })

  it('has the color of its triangle', () => {
    expect(['▲ 5%', '▲ ×20', '▼ 5%', '0%', 'new', ''].map(directionOf)).toEqual(['up', 'up', 'down', '', '', ''])
  })
})

it('a count has its unit in the singular or in the plural', () => {
  const views = { unitOne: 'view', unit: 'views' }
  const shown = ([0, 1, -1, 2, 21, 1_001, '9007199254740993'] as const).map((count) => showUnits(count, views))
  expect(shown).toEqual([
    ...['0 views', '1 view', '-1 view', '2 views', '21 views', '1,001 views'],
    '9,007,199,254,740,993 views',
  ])
  // Without a singular, no word is wrong.
  expect([0n, 1n, 2n].map((count) => showUnits(count, { unitOne: null, unit: 'Zugriffe' }))).toEqual([
    ...['0 Zugriffe', 'Zugriffe: 1', '2 Zugriffe'],
  ])
})

const LOCALES = ['en', 'de', 'fr', 'de-CH', 'en-IN', 'es', 'pl', 'ar-EG', 'fa', 'hi-u-nu-deva', 'sv', 'pt-PT']

it.each(LOCALES)('In %s, every count can be typed as the page writes it, and in plain digits', (locale) => {
  const format = new Intl.NumberFormat(locale)
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.integer({ min: 0, max: 18 }),
      (any, digits) => {
        const count = any / 10n ** BigInt(digits)
        expect(readTypedCount(format.format(count), locale)).toBe(count)
        expect(readTypedCount(` ${count} `, locale)).toBe(count)
      },
    ),
  )
})

it.each([
  ['1,234', 'en', 1_234n],
  ['1.234', 'de', 1_234n],
  ['1 234', 'fr', 1_234n],
  ["1'234", 'de-CH', 1_234n],
  ['12,34,567', 'en-IN', 1_234_567n],
  ['1.234', 'es', 1_234n],
  ['−5', 'en', -5n],
  ['007', 'en', 7n],
])('%j is a count in %s', (text, locale, count) => {
  expect(readTypedCount(text, locale)).toBe(count)
})

it.each([
  ['1.5', 'en'],
  ['1,5', 'de'],
  ['1.234', 'en'],
  ['1,234', 'de'],
  ['1,23', 'en'],
  ['1,2345', 'en'],
  [',123', 'en'],
  ['1e3', 'en'],
  ['0x10', 'en'],
  ['--1', 'en'],
  ['1-', 'en'],
  ['', 'en'],
  ['-', 'en'],
  ['abc', 'en'],
  ['12345678901234567890', 'en'],
  ['1'.repeat(100_000), 'en'],
])('%j is no count in %s', (text, locale) => {
  expect(readTypedCount(text, locale)).toBeNull()
})
