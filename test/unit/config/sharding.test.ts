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

  it('needs budgets that are large enough for every range', () => {
    const ranges = { SHARDING: { ranges: 16 } }
    expect(problems(ranges)).toEqual([
      'ROLLUP.max_statements must be at least 73, because SHARDING.ranges is 16: several ranges need PLAN = "paid"',
      'PRUNING.max_statements must be at least 17, because SHARDING.ranges is 16: several ranges need PLAN = "paid"',
    ])
    expect(problems({ ...ranges, PLAN: 'paid', PRUNING: { max_statements: 16 } })).toEqual([
      'PRUNING.max_statements must be at least 17, because SHARDING.ranges is 16',
    ])
  })
})
