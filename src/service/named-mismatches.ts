import type { Config } from '../config/config.ts'
import { readNames } from '../counters/keys/names.ts'
import type { Mismatch } from '../counters/verify/verify-page.ts'
import type { Executor } from '../database/database.ts'

/** Adds the names of their types and the keys of their counters to mismatches. */
export async function namedMismatches(db: Executor, { types }: Config, wrong: readonly Mismatch[]) {
  const names = new Map([...types.values()].map(({ recordType, name }) => [recordType, name]))
  const counters = wrong.flatMap(({ recordType, recordId }) => (recordId === null ? [] : [{ recordType, recordId }]))
  const nameOf = await readNames(db, counters)
  return wrong.map(({ recordType, recordId, what, start, is, shouldBe }) => ({
    type: names.get(recordType) ?? null,
    recordType,
    key: recordId === null ? null : nameOf({ recordType, recordId }),
    recordId: recordId === null ? null : String(recordId),
    what,
    start,
    is,
    shouldBe,
    difference: is - shouldBe,
  }))
}
