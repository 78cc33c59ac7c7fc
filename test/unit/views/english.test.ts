import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { showChange, showCount, showDays, showGrowth, showShort, showUnit } from '../../../src/views/english.ts'

it('All digits of any count are written as Intl writes them', () => {
  const signed = new Intl.NumberFormat('en', { signDisplay: 'exceptZero' })
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), (count) => {
      expect(showCount(count)).toBe(new Intl.NumberFormat('en').format(count))
      expect(showChange(count)).toBe(signed.format(count))
    }),
  )
})

it.each([
  [0, '0'],
  [999, '999'],
  [2_500, '2.5K'],
  [12_000, '12K'],
  [-4_000, '-4K'],
  [1_000_000, '1M'],
  [1e19, '10,000,000T'],
])('%s is short as %s', (count, text) => {
  expect(showShort(count)).toBe(text)
})

describe('A change', () => {
  const growth = (compared: bigint | null, before: bigint | null) => showGrowth({ compared, before })

  it('is a triangle and whole per cent if there was something before', () => {
    expect(growth(150n, 100n)).toBe('▲ 50%')
    expect(growth(0n, 100n)).toBe('▼ 100%')
    expect(growth(-100n, 100n)).toBe('▼ 200%')
    expect(growth(5n, 0n)).toBe('')
    expect(growth(5n, -5n)).toBe('')
    expect(growth(3n * 10n ** 20n, 10n ** 20n)).toBe('▲ 200%')
  })

  it('has no direction if it is below half a per cent', () => {
    expect([100n, 1_004n, 996n].map((now) => growth(now, now === 100n ? 100n : 1_000n))).toEqual(['0%', '0%', '0%'])
    expect([growth(1_005n, 1_000n), growth(994n, 1_000n)]).toEqual(['▲ 1%', '▼ 1%'])
  })

  it('is a factor from the tenfold on, and empty if nothing can be compared', () => {
    expect([growth(999n, 100n), growth(2n ** 53n + 1n, 1n)]).toEqual(['▲ 899%', '▲ ×9,007,199,254,740,993'])
    expect([growth(null, 5n), growth(5n, null)]).toEqual(['', ''])
  })
})

describe('Dates', () => {
  it('name their year once, unless it changes', () => {
    expect(showDays('2026-10-29', '2026-11-27')).toBe('29 Oct – 27 Nov 2026')
    expect(showDays('2026-01-02', '2026-01-31')).toBe('2 – 31 Jan 2026')
    expect(showDays('2025-12-31', '2026-01-01')).toBe('31 Dec 2025 – 1 Jan 2026')
    expect(showDays('2026-11-27', '2026-11-27')).toBe('27 Nov 2026')
  })

  it('of units are hours, days, months, or the days of a part, with their year if it is not the present one', () => {
    const on = (by: 'hour' | 'day' | 'week' | 'month', first: string, last: string, clock = '00:00') =>
      showUnit(by, [first, last], `${first}T${clock}:00+01:00`, '2026-11-28T10:00:00+01:00')
    expect(on('hour', '2026-11-28', '2026-11-28', '14:00')).toBe('Sat 28 Nov, 14:00')
    expect(on('day', '2026-11-28', '2026-11-28')).toBe('Sat 28 Nov')
    expect(on('day', '2025-11-28', '2025-11-28')).toBe('Fri 28 Nov 2025')
    expect(on('week', '2026-11-23', '2026-11-28')).toBe('23 – 28 Nov 2026')
    expect(on('month', '2026-11-01', '2026-11-28')).toBe('November')
    expect(on('month', '2025-02-01', '2025-02-28')).toBe('February 2025')
    expect(on('month', '2026-10-30', '2026-10-31')).toBe('30 – 31 Oct 2026')
  })
})
