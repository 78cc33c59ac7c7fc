import { describe, expect, it } from 'vitest'
import type { Count } from '../../../../src/browser/dashboard/exact-json.ts'
import { directionOf, showGrowth, showShare, showUnits } from '../../../../src/browser/dashboard/format-counts.ts'

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
  const views = { one: 'view', many: 'views' }
  const shown = ([0, 1, -1, 2, 21, 1_001, '9007199254740993'] as const).map((count) => showUnits(count, views))
  expect(shown).toEqual([
    ...['0 views', '1 view', '-1 view', '2 views', '21 views', '1,001 views'],
    '9,007,199,254,740,993 views',
  ])
  // Without a singular, no word is wrong.
  expect([0n, 1n, 2n].map((count) => showUnits(count, { one: '', many: 'Zugriffe' }))).toEqual([
    ...['0 Zugriffe', 'Zugriffe: 1', '2 Zugriffe'],
  ])
})

it('a share is that of the whole, if it is a part of it', () => {
  expect(showShare(1, 3)).toBe('33%')
  expect(showShare(1, 1_000)).toBe('<1%')
  expect(showShare(0, 3)).toBe('0%')
  expect(showShare('9007199254740993', '9007199254740993')).toBe('100%')
  for (const [part, whole] of [
    [1, 0],
    [-1, 3],
    [4, 3],
  ] as const) {
    expect(showShare(part, whole)).toBe('')
  }
})
