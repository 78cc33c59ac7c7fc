import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBigInt, toDate, toJsonNumber } from '../../../src/database/values.ts'

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n })

describe('an integer from the database', () => {
  it('keeps every digit, from a string or a number', () => {
    fc.assert(
      fc.property(int64, fc.maxSafeInteger(), (large, safe) => {
        expect(toBigInt(String(large))).toBe(large)
        expect(toBigInt(safe)).toBe(BigInt(safe))
      }),
    )
  })

  it.each([null, undefined, '', ' ', '1.5', '1e3', '0x1', '1n', ' 1', '1\n', '+1', '--1', 'geheim'])(
    'is not %j',
    (value) => {
      expect(() => toBigInt(value)).toThrow(TypeError)
      expect(() => toBigInt(value)).not.toThrow(/geheim/)
    },
  )

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, true, 1n, [1], {}, new Date(0)])(
    'is not %s',
    (value) => {
      expect(() => toBigInt(value)).toThrow(TypeError)
    },
  )
})

describe('an integer in a JSON response', () => {
  it('has every digit', () => {
    fc.assert(
      fc.property(int64, (count) => {
        expect(JSON.stringify({ count: toJsonNumber(count) })).toBe(`{"count":${count}}`)
      }),
    )
  })

  it.each([2n ** 53n - 1n, -(2n ** 53n) + 1n, 0n])('is an ordinary number if that is exact: %d', (value) => {
    expect(toJsonNumber(value)).toBe(Number(value))
  })

  it.each([2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 64n - 1n])(
    'keeps its digits beyond that: %d',
    (value) => {
      expect(JSON.stringify([toJsonNumber(value)])).toBe(`[${value}]`)
    },
  )
})

describe('a time from the database', () => {
  it.each([
    ['2026-11-20 10:59:30.250', '2026-11-20T10:59:30.250Z'],
    ['2026-11-20 10:59:30', '2026-11-20T10:59:30.000Z'],
    ['2028-02-29 23:59:59.999', '2028-02-29T23:59:59.999Z'],
    // European clocks skip this time.
    ['2026-03-29 02:30:00.000', '2026-03-29T02:30:00.000Z'],
  ])('is UTC: %s', (text, expected) => {
    expect(toDate(text)?.toISOString()).toBe(expected)
  })

  it('may be NULL', () => {
    expect(toDate(null)).toBeNull()
  })

  it('keeps its milliseconds', () => {
    const date = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(date, (time) => {
        expect(toDate(time.toISOString().replace('T', ' ').replace('Z', ''))).toEqual(time)
      }),
    )
  })

  it.each([undefined, '', 'soon', '0000-00-00 00:00:00.000', '2026-13-01 00:00:00', {}])('is not %j', (value) => {
    expect(() => toDate(value)).toThrow(new TypeError('expected a date and time from the database'))
  })
})
