import { FIRST_POSITION, type Mismatch, type ReconcilePosition, reconcile } from '../../src/counters/reconcile.ts'
import type { Executor } from '../../src/database/database.ts'

/**
 * Checks everything with the product's own reconciliation, page by page.
 *
 * @param limit counters in a page
 */
export async function reconcileAll(
  db: Executor,
  { limit = 500, hourDays = 36_500, at = new Date() } = {},
): Promise<{ checked: number; wrong: Mismatch[]; pages: number }> {
  const all = { checked: 0, wrong: [] as Mismatch[], pages: 0 }
  let from: ReconcilePosition | null = FIRST_POSITION
  while (from !== null) {
    const page = await reconcile(db, { from, limit, at, hourDays })
    all.checked += page.checked
    all.wrong.push(...page.wrong)
    all.pages++
    from = page.next
  }
  return all
}
