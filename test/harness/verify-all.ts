import { FIRST_POSITION, type Mismatch, verifyPage } from '../../src/counters/verify/verify-page.ts'
import type { Database } from '../../src/database/database.ts'

/**
 * Verifies all counters and types with the product's own check, page by page.
 *
 * @param limit most counters in a page
 */
export async function verifyAll(
  db: Database,
  { limit = 500, hourDays = 36_500, at = new Date() } = {},
): Promise<{ checked: number; wrong: Mismatch[]; pages: number }> {
  const all = { checked: 0, wrong: [] as Mismatch[], pages: 0 }
  let from: string | null = FIRST_POSITION
  while (from !== null) {
    const page = await verifyPage(db, { from, limit, at, hourDays })
    all.checked += page.checked
    all.wrong.push(...page.wrong)
    all.pages++
    from = page.next
  }
  return all
}
