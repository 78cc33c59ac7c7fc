import { describe, expect, it } from 'vitest'
import { boundsOf, rangeOf, rowsByRange } from '../../../src/counters/ranges.ts'

const LAST_ID = 2n ** 64n - 1n

describe('Ranges', () => {
  it.each([1, 2, 4, 16, 256])('cover all record ids without gaps or overlaps: %i', (ranges) => {
    let next = 0n
    for (let range = 0; range < ranges; range++) {
      const { first, last } = boundsOf(range, ranges)
      expect(first).toBe(next)
      expect([rangeOf(first, ranges), rangeOf(last, ranges)]).toEqual([range, range])
      next = last + 1n
    }
    expect(next).toBe(LAST_ID + 1n)
  })

  it('lie in one of fewer ranges each, so that more ranges never span what fewer did not', () => {
    for (let range = 0; range < 16; range++) {
      const { first, last } = boundsOf(range, 16)
      expect(rangeOf(first, 4)).toBe(rangeOf(last, 4))
    }
  })

  it('split rows and keep their order', () => {
    const rowOf = (recordId: bigint) => ({ recordId })
    const rows = [LAST_ID, 1n, 2n ** 63n, 0n, 2n ** 63n - 1n].map(rowOf)
    expect([...rowsByRange(rows, 2)]).toEqual([
      [1, [LAST_ID, 2n ** 63n].map(rowOf)],
      [0, [1n, 0n, 2n ** 63n - 1n].map(rowOf)],
    ])
    expect([...rowsByRange([], 2)]).toEqual([])
    expect([...rowsByRange(rows, 1)]).toEqual([[0, rows]])
  })
})
