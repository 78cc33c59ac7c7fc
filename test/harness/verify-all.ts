import {
  FIRST_POSITION,
  firstDayWithHours,
  type KeyedMismatch,
  verifyPage,
} from '../../src/counters/verify/verify-page.ts'
import type { Database } from '../../src/database/database.ts'

/**
 * Verifies all counters and types with the product's own check, page by page.
 *
 * @param limit most counters in a page
 */
export async function verifyAll(
  db: Database,
  { limit = 500, hourDays = 36_500, at = new Date() } = {},
): Promise<{ checked: number; wrong: KeyedMismatch[]; pages: number }> {
  const all = { checked: 0, wrong: [] as KeyedMismatch[], pages: 0 }
  const firstDay = await firstDayWithHours(db, at, hourDays)
  let from: string | null = FIRST_POSITION
  while (from !== null) {
    const page = await verifyPage(db, from, limit, firstDay)
    all.checked += page.checked
    all.wrong.push(...page.wrong)
    all.pages++
    from = page.next
  }
  return all
}
