import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactly, showGrowth, sum } from '../../src/dashboard/numbers.ts'
import { fromDayInput, historyParameters, rangeOf, startOfHour, toDayInput } from '../../src/dashboard/time.ts'

describe('JSON from the API', () => {
  it('is read as JSON is, but for whole numbers that would be rounded, which keep their digits', () => {
    expect(parseExactly('{"count":9223372036854775807,"total":-9223372036854775808,"x":5}')).toEqual({
      count: '9223372036854775807',
      total: '-9223372036854775808',
      x: 5,
    })
    expect(parseExactly('[1.5, 2e3, 1234567890123456.5, 1234567890123456e3]')).toEqual([
      1.5, 2000, 1234567890123456.5, 1234567890123456e3,
    ])
  })

  it('has texts as they are, whatever they look like', () => {
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

  it('adds up exactly', () => {
    expect(sum([{ count: '9007199254740993' }, { count: 2 }, { count: '-9007199254740990' }])).toBe(5n)
  })
})

describe('growth', () => {
  it('is told in whole per cent, where there was something before', () => {
    expect(showGrowth(150n, 100n)).toBe('+50%')
    expect(showGrowth(0n, 100n)).toBe('-100%')
    expect(showGrowth(100n, 100n)).toBe('0%')
    expect(showGrowth(5n, 0n)).toBe('')
    expect(showGrowth(5n, -5n)).toBe('')
    expect(showGrowth(3n * 10n ** 30n, 10n ** 30n)).toBe('+200%')
  })
})

describe('ranges', () => {
  it.each([
    ['day', 'hour', 23 * 3_600_000],
    ['week', 'day', 6 * 86_400_000],
    ['month', 'day', 29 * 86_400_000],
    ['quarter', 'day', 89 * 86_400_000],
  ] as const)('a %s ends with the present %s', (name, by, length) => {
    for (const text of [
      '2026-03-29T12:00:00Z',
      '2026-10-25T00:30:00Z',
      '2026-01-01T00:00:00Z',
      '2028-02-29T23:59:59.999Z',
    ]) {
      const now = new Date(text)
      const range = rangeOf(name, now)
      expect(range.by).toBe(by)
      expect(range.to).toBeUndefined()
      // An hour more or less where the clocks are changed.
      const distance = now.getTime() - range.from.getTime() - length
      expect(distance).toBeGreaterThanOrEqual(-3_600_000)
      expect(distance).toBeLessThan((by === 'hour' ? 1 : 25) * 3_600_000)
      if (by === 'day') expect([range.from.getHours(), range.from.getMinutes()]).toEqual([0, 0])
    }
  })

  it('a year begins with a month', () => {
    const { from, by } = rangeOf('year', new Date(2026, 0, 31))
    expect([from.getFullYear(), from.getMonth(), from.getDate(), by]).toEqual([2025, 1, 1, 'month'])
  })

  it('days go through a date field and back', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(1970, 0, 2), max: new Date(2099, 11, 30), noInvalidDate: true }), (at) => {
        const day = fromDayInput(toDayInput(at))
        expect(day <= at).toBe(true)
        expect(fromDayInput(toDayInput(at), 1) > at).toBe(true)
        expect(toDayInput(day)).toBe(toDayInput(at))
      }),
    )
  })

  it('are asked for by instants, in the visitor’s time zone', () => {
    const from = startOfHour(new Date('2026-11-20T10:59:59.999Z'))
    expect(historyParameters({ from, by: 'hour' })).toEqual({
      by: 'hour',
      tz: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      from: '2026-11-20T10:00:00.000Z',
    })
    expect(historyParameters({ from, to: from, by: 'day' }).to).toBe('2026-11-20T10:00:00.000Z')
  })
})
