import { describe, expect, it } from 'vitest'
import { showGrowth, sum } from '../../../../src/browser/dashboard/format-counts.ts'

it('the sum of counts is exact', () => {
  expect(sum([{ count: '9007199254740993' }, { count: 2 }, { count: '-9007199254740990' }])).toBe(5n)
})

describe('growth', () => {
  it('is shown in whole per cent if there was something before', () => {
    expect(showGrowth(150n, 100n)).toBe('+50%')
    expect(showGrowth(0n, 100n)).toBe('-100%')
    expect(showGrowth(100n, 100n)).toBe('0%')
    expect(showGrowth(5n, 0n)).toBe('')
    expect(showGrowth(5n, -5n)).toBe('')
    expect(showGrowth(3n * 10n ** 30n, 10n ** 30n)).toBe('+200%')
  })
})
