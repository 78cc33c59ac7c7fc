import { describe, expect, it } from 'vitest'
import type { Count } from '../../../../src/browser/dashboard/exact-json.ts'
import { showGrowth, showShare } from '../../../../src/browser/dashboard/format-counts.ts'

const growth = (compared: Count | null, before: Count | null) => showGrowth({ compared, before })

describe('growth', () => {
  it('is shown in whole per cent if there was something before', () => {
    expect(growth(150, 100)).toBe('+50%')
    expect(growth(0, 100)).toBe('-100%')
    expect(growth(100, 100)).toBe('0%')
    expect(growth(5, 0)).toBe('')
    expect(growth(5, -5)).toBe('')
    expect(growth('300000000000000000000', '100000000000000000000')).toBe('+200%')
  })

  it('is shown as a factor from the tenfold on, and not at all if nothing can be compared', () => {
    expect(growth(999, 100)).toBe('+899%')
    expect(growth('9007199254740993', 1)).toBe('×9,007,199,254,740,993')
    expect(growth(null, 5)).toBe('')
    expect(growth(5, null)).toBe('')
  })
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
