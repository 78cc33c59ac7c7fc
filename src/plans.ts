import { leastRollUpStatements } from './counters/rollup/roll-up.ts'

/**
 * The budgets of the background tasks. A run has 50 subrequests and 10 ms of processor time on the free plan, 10,000 and 30 s on the
 * paid plan; some are left for retries. Pruning and expiry share a run every two minutes, and can delete all that two roll-ups leave
 * (`test/database/counters/budgets.slow.test.ts`). `history.maxStatements` includes pruning.
 */
export const PLANS = {
  free: {
    // A run that exceeds its processor time is killed, and its lease must end before the next run.
    rollUp: { pageSlots: 800, maxStatements: 20, maxSeconds: 20 },
    pruning: { pageSlots: 800, maxStatements: 6, maxSeconds: 60 },
    history: { pageHours: 800, maxStatements: 18, maxSeconds: 40 },
  },
  paid: {
    rollUp: { pageSlots: 1_000, maxStatements: 9_000, maxSeconds: 50 },
    pruning: { pageSlots: 2_000, maxStatements: 5_000, maxSeconds: 60 },
    history: { pageHours: 2_000, maxStatements: 9_800, maxSeconds: 40 },
  },
}

/** What a run of the free plan may send. */
export const FREE_SUBREQUESTS = 50
export type Plan = keyof typeof PLANS

/** The budgets of a plan. On the free one, a page of each range must fit into a run of the roll-up. */
export function budgetsOf(plan: Plan, ranges: number) {
  const { rollUp, ...others } = PLANS[plan]
  if (plan === 'paid') return { rollUp: { ...rollUp }, ...others }
  const most = Math.min(rollUp.maxStatements + 8 * (ranges - 1), FREE_SUBREQUESTS - 2)
  return { rollUp: { ...rollUp, maxStatements: Math.max(leastRollUpStatements(ranges), most) }, ...others }
}
