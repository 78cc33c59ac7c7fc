import type { TestDatabase } from '../harness/database.ts'

/** The tables in which requests and background runs write. */
const TABLES = [
  'slotted_counters',
  'counter_names',
  'counter_totals',
  'counter_history',
  'counter_periods',
  'counter_adjustments',
  'change_keys',
  'type_history',
  'new_key_budgets',
  'visitor_salts',
  'rollup_state',
  'background_runs',
]

/**
 * Empties a database that the tests of a file share, and ends its faults. That is ten times as fast as making another one. For
 * tests that leave no work behind.
 */
export async function emptyTables(db: TestDatabase): Promise<void> {
  await db.behave()
  await Promise.all(TABLES.map((table) => db.arrange(`DELETE FROM ${table}`)))
}
