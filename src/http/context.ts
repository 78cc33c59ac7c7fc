import type { Bindings } from '../config/bindings.ts'
import type { Token } from '../config/tokens.ts'
import type { DatabaseTime } from '../database/database.ts'
import type { Isolate } from '../isolate.ts'

/** What handlers find on Hono's context. */
export interface AppEnv {
  Bindings: Bindings
  Variables: {
    requestId: string
    /** Set for every route. */
    isolate: Isolate
    /** The token that authorized the request. */
    token?: Token
    /** The result of `isAuthorized`. */
    isAuthorized?: boolean
    /** Set on timed paths. */
    databaseTime?: DatabaseTime
  }
}
