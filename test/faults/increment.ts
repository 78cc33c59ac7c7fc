import { hash64 } from '../../src/counters/ids.ts'

/** Record types by name, as in `COUNTERS` (test/faults/counters.ts). */
export const RECORD_TYPES = { page_view: 1, download: 2, visit: 3, view: 4 }

/** A counter. */
export interface Counter {
  type: keyof typeof RECORD_TYPES
  key: string
}

/** What a request adds to one counter. */
export interface Increment extends Counter {
  by: number
}

/** The counter's address in the database. */
export async function recordOf({ type, key }: Counter): Promise<{ recordType: number; recordId: bigint }> {
  return { recordType: RECORD_TYPES[type], recordId: await hash64(key) }
}
