import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromDayInput,
  historyParameters,
  rangeOf,
  startOfHour,
  toDayInput,
} from '../../../../src/browser/dashboard/ranges.ts'

describe('ranges', () => {
  it.each([
    ['day', 'hour', 23 * 3_600_000],
    ['week', 'day', 6 * 86_400_000],
    ['month', 'day', 29 * 86_400_000],
    ['quarter', 'day', 89 * 86_400_000],
  ] as const)('a %s ends with the current %s', (name, by, length) => {
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
      // A change of the clocks adds or removes an hour.
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

  it('a day survives a date field and back', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(1970, 0, 2), max: new Date(2099, 11, 30), noInvalidDate: true }), (at) => {
        const day = fromDayInput(toDayInput(at))
        expect(day <= at).toBe(true)
        expect(fromDayInput(toDayInput(at), 1) > at).toBe(true)
        expect(toDayInput(day)).toBe(toDayInput(at))
      }),
    )
  })

  it('are requested as instants with the visitor’s time zone', () => {
    const from = startOfHour(new Date('2026-11-20T10:59:59.999Z'))
    expect(historyParameters({ from, by: 'hour' })).toEqual({
      by: 'hour',
      tz: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      from: '2026-11-20T10:00:00.000Z',
    })
    expect(historyParameters({ from, to: from, by: 'day' }).to).toBe('2026-11-20T10:00:00.000Z')
  })
})
