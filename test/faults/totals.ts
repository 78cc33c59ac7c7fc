import { expect } from 'vitest'
import { readTotal, totalOf } from '../../src/counters/history/read-total.ts'
import type { DeclaredPrefix } from '../../src/counters/ledger/kept-sums.ts'
import type { Database } from '../../src/database/database.ts'
import { type Increment, RECORD_TYPES } from './increment.ts'

/** What is known of a counter. */
export type Counted = Pick<Increment, 'type' | 'key'> & { count: bigint }

/**
 * Checks the total of each type and of each prefix, read as the API reads it, against the counts of the keys.
 *
 * @param counts all counters that are not 0. Call it only when nothing changes them.
 * @param options `prefixes`: those that are declared; `rolledUp`: nothing is pending. Until then, so much may be pending that a
 *   total is not exact. It is left out.
 */
export async function checkTotals(
  db: Database,
  counts: readonly Counted[],
  { prefixes, rolledUp }: { prefixes: readonly DeclaredPrefix[]; rolledUp: boolean },
): Promise<void> {
  const options = { consistency: 'exact', period: null, ranges: db.ranges } as const
  for (const [type, recordType] of Object.entries(RECORD_TYPES)) {
    const declared = prefixes.filter((prefix) => prefix.recordType === recordType).map(({ text }) => text)
    for (const prefix of [null, ...declared]) {
      const { total, pending, complete } = await readTotal(db, await totalOf(recordType, prefix), options)
      if (pending === null && !rolledUp) continue
      const matching = counts.filter((counter) => counter.type === type && counter.key.startsWith(prefix ?? ''))
      const sum = matching.reduce((sum, { count }) => sum + count, 0n)
      const is = { type, prefix, complete, exact: pending !== null, count: total + (pending ?? 0n) }
      expect(is).toEqual({ type, prefix, complete: true, exact: true, count: sum })
    }
  }
}
