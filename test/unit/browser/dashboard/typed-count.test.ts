import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readTypedCount } from '../../../../src/browser/dashboard/typed-count.ts'

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
