import { describe, expect, it } from 'vitest'
import { unpackCounts } from '../../../../src/counters/history/rows-sql.ts'

const LARGEST = 2n ** 63n - 1n

describe('The counts of a row', () => {
  it('are those that the database packed', () => {
    expect(unpackCounts('5', '490000:7,490024:-2')).toEqual([
      [490_000, 7n],
      [490_024, -2n],
    ])
    expect(unpackCounts(`${2n * LARGEST}`, `1:${LARGEST},2:${LARGEST}`)).toEqual([
      [1, LARGEST],
      [2, LARGEST],
    ])
  })

  it('are refused if the server cut the text, even within the last number', () => {
    const [sum, counts] = ['130', '1:10,2:120']
    for (let length = 3; length < counts.length; length++) {
      expect(() => unpackCounts(sum, counts.slice(0, length)), counts.slice(0, length)).toThrow()
    }
  })
})
