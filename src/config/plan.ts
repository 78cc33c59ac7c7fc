import * as z from 'zod/mini'

/**
 * The default budgets of the background tasks. A run has 50 subrequests and 10 ms of processor time on the free plan, 10,000 and
 * 30 s on the paid plan; some subrequests are left for retries. Pruning and the expiry of hours share a run every two minutes, and
 * can delete all that two roll-ups leave (`test/database/counters/budgets.slow.test.ts`).
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

/** What a run of the free plan may send. */
export const FREE_SUBREQUESTS = 50

export type Plan = keyof typeof PLANS

export const plan = z._default(z.enum(['free', 'paid'], { error: 'must be "free" or "paid"' }), 'free')
