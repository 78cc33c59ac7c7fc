import type { Config } from './config.ts'
import type { GroupCommit } from './counters/group-commit.ts'
import type { KnownCounters } from './counters/known-counters.ts'
import type { Visitors } from './counters/visitors.ts'
import type { Database } from './database/database.ts'
import type { Env } from './env.ts'
import type { Reads } from './isolate.ts'
import type { DatabaseTime } from './server-timing.ts'

/** What every route finds on its context. */
export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    config: Config
    db: Database
    counting: GroupCommit
    known: KnownCounters
    visitors: Visitors
    reads: Reads
    /** On paths that are timed. */
    databaseTime?: DatabaseTime
  }
}
