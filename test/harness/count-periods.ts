import { additionToPeriods, type PeriodAmount } from '../../src/counters/ledger/periods.ts'
import { boundsOf, rowsByRange } from '../../src/counters/ranges.ts'
import type { Database } from '../../src/database/database.ts'

/** Adds amounts to the periods of counters and types, as roll-ups of their ranges do. */
export async function countPeriods(db: Database, amounts: readonly PeriodAmount[], at: Date): Promise<void> {
  for (const [range, part] of rowsByRange(amounts, db.ranges)) {
    await additionToPeriods(part, at, boundsOf(range, db.ranges).first)(db)
  }
}
