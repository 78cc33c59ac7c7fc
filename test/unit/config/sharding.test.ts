import { describe, expect, it } from 'vitest'
import { problems, read } from './valid-config.ts'

describe('The number of ranges', () => {
  it.each([1, 2, 64, 256])('may be a power of two: %i', (ranges) => {
    expect(read({ SHARDING: { ranges }, PLAN: 'paid' })).toMatchObject({ ranges })
  })

  it.each([0, 3, -2, 0.5, 512, '2', null])('cannot be %j', (ranges) => {
    const rule = 'must be a power of two from 1 to 256, and at least the number of shards'
    expect(problems({ SHARDING: { ranges } })).toEqual([`SHARDING.ranges ${rule}`])
  })
})
