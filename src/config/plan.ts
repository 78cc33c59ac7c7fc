import * as z from 'zod/mini'

/**
 * What each plan of Workers gives the background tasks, unless a setting says otherwise. A run of the free plan has 50 subrequests
 * and 10 ms of processor time, one of the paid plan 10,000 and 30 s; some subrequests are left for what is sent again.
 *
 * Pruning and the expiry of hours share a run every two minutes. Each can delete in it all that two roll-ups can leave, so that no
 * backlog grows. `test/database/counters/budgets.slow.test.ts` checks that.
 */
export const PLANS = {
  free: {
    // A run that exceeds its processor time is killed, and its lease must end before the next run.
    ROLLUP: { page_slots: 400, max_statements: 28, max_seconds: 20 },
    PRUNING: { page_slots: 400, max_statements: 10, max_seconds: 60 },
    HISTORY: { page_hours: 400, max_statements: 22, max_seconds: 40 },
  },
  paid: {
    ROLLUP: { page_slots: 2_000, max_statements: 9_000, max_seconds: 50 },
    PRUNING: { page_slots: 2_000, max_statements: 5_000, max_seconds: 60 },
    HISTORY: { page_hours: 2_000, max_statements: 9_800, max_seconds: 40 },
  },
} as const satisfies Record<string, Record<'ROLLUP' | 'PRUNING' | 'HISTORY', Record<string, number>>>

export type Plan = keyof typeof PLANS

/** The setting `PLAN`. */
export const plan = z._default(z.enum(['free', 'paid'], { error: 'must be "free" or "paid"' }), 'free')

/** The settings of a plan that limit what one run may do. */
export type Budget = {
  [Table in keyof (typeof PLANS)['free']]: `${Table}.${keyof (typeof PLANS)['free'][Table] & string}`
}[keyof (typeof PLANS)['free']]

/** What a plan gives for a budget. */
export function presetOf(of: Plan, budget: Budget): number {
  const [table, name] = budget.split('.') as ['ROLLUP', 'max_statements']
  return PLANS[of][table][name]
}
