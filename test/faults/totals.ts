import { expect } from 'vitest'
import { readTotal, totalOf } from '../../src/counters/history/read-total.ts'
import type { Database } from '../../src/database/database.ts'
import { DECLARED } from './counters.ts'
import { type Increment, RECORD_TYPES } from './increment.ts'

/** What is known of a counter. */
export type Counted = Pick<Increment, 'type' | 'key'> & { count: bigint }

/**
 * Checks the total of each type and of each of its prefixes, read as the API reads it, against the counts of the keys.
 *
 * @param counts all counters that are not 0. Call it only when nothing changes them.
 * @param options `rolledUp`: nothing is pending. Until then, a prefix may be incomplete, and so much may be pending that no total
 *   is exact. These are left out.
 */
export async function checkTotals(
  db: Database,
  counts: readonly Counted[],
  { rolledUp }: { rolledUp: boolean },
): Promise<void> {
  for (const [type, recordType] of Object.entries(RECORD_TYPES)) {
    const prefixes = DECLARED.filter((prefix) => prefix.recordType === recordType).map(({ text }) => text)
    for (const prefix of [null, ...prefixes]) {
      const of = await totalOf(recordType, prefix)
      const { total, pending, complete } = await readTotal(db, of, {
        consistency: 'exact',
        period: null,
        ranges: db.ranges,
      })
      if (!rolledUp && (pending === null || !complete)) continue
      const matching = counts.filter((counter) => counter.type === type && counter.key.startsWith(prefix ?? ''))
      const expected = matching.reduce((sum, { count }) => sum + count, 0n)
      const is = { type, prefix, complete, exact: pending !== null, total: total + (pending ?? 0n) }
      expect(is).toEqual({ type, prefix, complete: true, exact: true, total: expected })
    }
  }
}
