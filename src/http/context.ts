import type { Bindings } from '../config/bindings.ts'
import type { DatabaseTime } from './database-time.ts'

/** What handlers find on Hono's context. They reach everything else with `isolateOf(c.env)`. */
export interface AppEnv {
  Bindings: Bindings
  Variables: {
    requestId: string
    /** Set on paths that are timed. */
    databaseTime?: DatabaseTime
  }
}
