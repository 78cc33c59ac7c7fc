import { expect } from 'vitest'
import { checkKeys, ROWS_OF_KEY } from '../../src/counters/keys/prefix.ts'
import { MAX_PENDING_OF_TYPE, readSum } from '../../src/counters/read/read-sum.ts'
import type { Database } from '../../src/database/database.ts'
import { unlessTooMany } from '../../src/service/ranking.ts'
import { PREFIXES } from './counters.ts'
import { type Counter, RECORD_TYPES } from './increment.ts'

/** What is known of a counter. */
export type Counted = Counter & { count: bigint }

/**
 * Checks the total of each type and of prefixes, read as the API reads it, against the counts of the keys.
 *
 * @param counts all counters that are not 0. Call it only when nothing changes them.
 * @param rolledUp whether nothing is pending. Until then, so much may be pending that a total is not exact. It is left out.
 */
export async function checkTotals(db: Database, counts: readonly Counted[], rolledUp: boolean): Promise<void> {
  for (const [type, recordType] of Object.entries(RECORD_TYPES)) {
    const ofType = PREFIXES.filter((prefix) => prefix.recordType === recordType).map(({ text }) => text)
    for (const prefix of [null, ...ofType]) {
      const of = { recordType, name: prefix ?? '' }
      const isReadable = await unlessTooMany(checkKeys(db, of, { rows: ROWS_OF_KEY }).then(() => true))
      if (isReadable === null) continue
      const asked = { withTotal: true, history: null, mostPending: MAX_PENDING_OF_TYPE }
      const reading = await readSum(db, of, asked, db.ranges)
      if (reading.pending === null && !rolledUp) continue
      const { total, pending } = reading
      const matching = counts.filter((counter) => counter.type === type && counter.key.startsWith(prefix ?? ''))
      const sum = matching.reduce((sum, { count }) => sum + count, 0n)
      const is = { type, prefix, exact: pending !== null, count: total + (pending ?? 0n) }
      expect(is).toEqual({ type, prefix, exact: true, count: sum })
    }
  }
}
