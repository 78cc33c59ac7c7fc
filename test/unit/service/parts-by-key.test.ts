import { describe, expect, it } from 'vitest'
import { partsByKey } from '../../../src/service/period-counts.ts'

describe('The parts of a sum', () => {
  const key = (name: string) => ({ recordType: 1, recordId: 1n, name })
  const units = [5n, 7n].map((count, start) => ({ start, count, previous: null }))

  it('are its keys from the largest, and all others', () => {
    const parts = [
      [1n, 0n],
      [0n, 0n],
      [3n, 3n],
    ]
    expect(partsByKey({ units, parts }, ['a', 'none', 'b'].map(key))).toEqual([
      { key: 'b', counts: [3n, 3n] },
      { key: 'a', counts: [1n, 0n] },
      { key: null, counts: [1n, 4n] },
    ])
  })

  it('have no others if nothing is left, and are none if no key was asked for', () => {
    expect(partsByKey({ units, parts: [[5n, 7n]] }, [key('a')])).toEqual([{ key: 'a', counts: [5n, 7n] }])
    expect(partsByKey({ units, parts: [] }, [])).toEqual([])
  })
})
