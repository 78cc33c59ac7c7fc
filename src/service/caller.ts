import type { Database } from '../database/database.ts'
import type { Isolate } from '../isolate.ts'

/** Who calls the service layer: a request, or code of the same Worker. */
export interface Caller {
  isolate: Isolate
  db: Database
  /** Continues work after the caller has gone. */
  waitUntil(work: Promise<unknown>): void
  /** Without a token, readings are bounded, and may be some seconds old. */
  hasToken(): Promise<boolean>
  /** Whether to bypass caches. */
  wantsFresh: boolean
}
