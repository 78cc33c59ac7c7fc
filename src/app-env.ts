import type { Config } from './config.ts'
import type { CountingContext } from './counters/count.ts'
import type { Database } from './database/database.ts'
import type { Env } from './env.ts'

/** What every route finds on its context. */
export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    config: Config
    db: Database
    counting: CountingContext
  }
}
