import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { countIn, MAX_READ, type Reading, readCounters } from '../../../../src/counters/read/read-counters.ts'
import { SharedReads } from '../../../../src/counters/shared-reads.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { GatedDatabase } from '../../../harness/gated-database.ts'

export const counter = (recordId: bigint, recordType = 1): CounterAddress => ({
  recordType,
  recordId,
  name: `/${recordId}`,
})

/** A counter that reads as 42, and one that reads as 5. */
export const [A, B] = [counter(1n), counter(2n ** 64n - 1n, 2)]

/** A database with these counters, behind a gate. */
export async function gatedDatabase(): Promise<{ db: TestDatabase; gated: GatedDatabase }> {
  const db = await freshDatabase()
  await db.insert('totals', '(1, 1, 40, 3, NULL), (2, 1, 999, 1, NULL), (2, 18446744073709551615, 0, 1, NULL)')
  await db.insert('slotted_counters', '(1, 1, 1, 2, 1, 0), (2, 18446744073709551615, 9, 5, 1, 0)')
  return { db, gated: new GatedDatabase(db) }
}

/** Reads of an isolate that give up a query after some milliseconds. */
export const readsWithin = (gated: GatedDatabase, deadlineMs: number): SharedReads<Reading> =>
  new SharedReads([gated], { deadlineMs, maxCounters: MAX_READ, read: readCounters })

export async function countsRead(reads: SharedReads<Reading>, counters: readonly CounterAddress[]): Promise<bigint[]> {
  return (await reads.read(counters, () => {})).map(countIn)
}

/** Waits a moment, by the real clock. */
export const pause = () => new Promise((resolve) => setTimeout(resolve, 5))
