import { describe, expect, it } from 'vitest'
import { leastExpiryStatements } from '../../../src/counters/old-rows.ts'
import { leastRollUpStatements } from '../../../src/counters/rollup/roll-up.ts'
import { PLANS } from '../../../src/plans.ts'
import { problems, read } from './valid-config.ts'

describe('The plan', () => {
  it('is free or paid, and nothing else', () => {
    expect([read({}).plan, read({ PLAN: 'paid' }).plan]).toEqual(['free', 'paid'])
    for (const PLAN of ['', 'Paid', 1, null, {}]) {
      expect(problems({ PLAN })).toEqual(['PLAN must be "free" or "paid"'])
    }
  })

  it.each(['free', 'paid'] as const)('%s gives every budget', (PLAN) => {
    expect(read({ PLAN })).toMatchObject(PLANS[PLAN])
    // It is copied: a change of one configuration would be one of all others.
    expect(read({ PLAN }).rollUp).not.toBe(PLANS[PLAN].rollUp)
  })

  it.each([
    ['free', 50],
    ['paid', 10_000],
  ] as const)('%s stays within the subrequests and the time of a run', (plan, subrequests) => {
    const { rollUp, pruning, history } = PLANS[plan]
    expect(rollUp.maxStatements).toBeLessThan(subrequests)
    expect(history.maxStatements).toBeLessThan(subrequests)
    expect(pruning.maxStatements).toBeLessThan(history.maxStatements)
    expect(rollUp.maxSeconds).toBeLessThan(60)
    expect(pruning.maxSeconds + history.maxSeconds).toBeLessThan(120)
  })

  it('is free for up to 4 ranges, each of which has a page in a run of the roll-up', () => {
    expect([1, 2, 4].map((ranges) => read({ SHARDING: { ranges } }).rollUp.maxStatements)).toEqual([20, 28, 44])
    for (const ranges of [1, 2, 4]) expect(problems({ SHARDING: { ranges } })).toEqual([])
    for (const ranges of [8, 16]) {
      expect(problems({ SHARDING: { ranges } })).toEqual([`PLAN must be "paid", because SHARDING.ranges is ${ranges}`])
      expect(problems({ SHARDING: { ranges }, PLAN: 'paid' })).toEqual([])
    }
    // Until then, a run moves at least one page.
    expect(read({ SHARDING: { ranges: 16 } }).rollUp.maxStatements).toBe(leastRollUpStatements(16))
  })

  it.each([1, 2, 4])('is free: a pruning run for %i ranges stays within its subrequests', (ranges) => {
    const beside = 2 + ranges + (1 + 2 * ranges) + leastExpiryStatements(ranges)
    expect(beside + Math.max(PLANS.free.pruning.maxStatements, 1 + ranges)).toBeLessThanOrEqual(50)
  })
})
