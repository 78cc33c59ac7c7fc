import { describe, expect, it } from 'vitest'
import { expireHours, prune } from '../../../src/counters/old-rows.ts'
import { rollUp } from '../../../src/counters/rollup/roll-up.ts'
import { PLANS, type Plan } from '../../../src/plans.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { nameAll } from '../../harness/moves.ts'

/** By how much pages and statements are scaled down: what must hold depends on their ratios alone. */
const SCALE: Record<Plan, number> = { free: 1, paid: 20 }
/** More than two roll-ups can move. */
const SLOTS = 12_000
/** So long ago that the hours of the history have expired. */
const AT = new Date(Date.now() - 100 * 86_400_000)

/** Fills slots that are old, each of another counter. Their totals exist, which leaves a roll-up the most statements for pages. */
async function fill(db: TestDatabase): Promise<void> {
  const rows = Array.from({ length: SLOTS }, (_, i) => {
    return `(1, ${BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n)}, 7, 1, ${i + 1}, 1)`
  })
  await db.insert('slotted_counters', rows)
  await nameAll(db)
}

describe.each(['free', 'paid'] as const)('With the budgets of the %s plan', (plan) => {
  it('one run of pruning deletes all that two roll-ups can leave, and the hours that they wrote expire as fast', async () => {
    const db = await freshDatabase()
    await fill(db)
    const scaled = (value: number) => value / SCALE[plan]
    const { rollUp: rollUpBudget, pruning, history } = PLANS[plan]
    let moved = 0
    for (let minute = 0; minute < 2; minute++) {
      const summary = await rollUp(db, {
        pageSlots: scaled(rollUpBudget.pageSlots),
        maxStatements: scaled(rollUpBudget.maxStatements),
        maxSeconds: 600,
        at: AT,
      })
      // It stopped because it could not move more.
      expect(summary.outcome).toBe('partial')
      moved += summary.slots
    }
    await db.arrange('UPDATE slotted_counters SET kept_until = FLOOR(UNIX_TIMESTAMP() / 3600) WHERE count <> 0')
    const pruned = await prune(db, {
      pageSlots: scaled(pruning.pageSlots),
      maxStatements: scaled(pruning.maxStatements),
    })
    expect(pruned.deleted).toBe(moved)
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(BigInt(SLOTS - moved))
    expect(await db.number('SELECT COUNT(*) FROM counter_history')).toBe(BigInt(moved))
    await expireHours(db, {
      hourDays: 90,
      pageHours: scaled(history.pageHours),
      maxStatements: scaled(history.maxStatements) - pruned.statements,
      recordTypes: [1],
      at: new Date(),
    })
    expect(await db.number('SELECT COUNT(*) FROM counter_history')).toBe(0n)
  })
})
