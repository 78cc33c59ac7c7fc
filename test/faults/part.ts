import { hash64 } from '../../src/counters/hash.ts'

/** The types of wrangler.toml. */
const RECORD_TYPES = { page_view: 1, download: 2 }

/** Something to add to one counter. */
export interface Part {
  type: keyof typeof RECORD_TYPES
  key: string
  by: number
}

/** Where the counter is in the database. */
export async function recordOf({ type, key }: Part): Promise<{ recordType: number; recordId: bigint }> {
  return { recordType: RECORD_TYPES[type], recordId: await hash64(key) }
}
