import type { Database, DatabaseTime } from '../database/database.ts'
import type { Isolate } from '../isolate.ts'

/** Who asks for something: a request, or code of the same Worker. */
export interface Caller {
  isolate: Isolate
  /** Keeps work going after the caller is gone. */
  waitUntil(work: Promise<unknown>): void
  /** Whether it has a token. A stranger's readings are bounded, and may be some seconds old. */
  hasToken(): Promise<boolean>
  /** Whether it refuses cached readings. */
  wantsFresh: boolean
  /** Measures the database for `Server-Timing`. */
  databaseTime?: DatabaseTime | undefined
}

/** The isolate's database, measured if the caller wants to know. */
export function databaseOf({ isolate, databaseTime }: Caller): Database {
  return databaseTime?.of(isolate.db) ?? isolate.db
}
