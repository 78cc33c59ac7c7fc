import type { SumsPlace } from '../../src/counters/ledger/kept-sums.ts'
import { addToPeriods, type PeriodAmount } from '../../src/counters/ledger/periods.ts'
import { boundsOf, rowsByRange } from '../../src/counters/ranges.ts'
import type { Database } from '../../src/database/database.ts'

/** A lane of a range without prefixes. */
export function laneAt(rangeLane: bigint): SumsPlace {
  return { rangeLane, versionOf: () => 0n, prefixesOf: () => [], isNamed: () => true, outdated: () => {} }
}

/** Adds amounts to the periods of counters and types, as roll-ups of their ranges do. */
export async function countPeriods(db: Database, amounts: readonly PeriodAmount[], at: Date): Promise<void> {
  for (const [range, part] of rowsByRange(amounts, db.ranges)) {
    await addToPeriods(db, part, at, laneAt(boundsOf(range, db.ranges).first))
  }
}
