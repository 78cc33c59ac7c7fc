import type { Context } from 'hono'
import { type Bindings, basePathOf } from '../config/bindings.ts'
import type { Token } from '../config/tokens.ts'
import type { DatabaseTime } from '../database/database.ts'
import type { Isolate } from '../isolate.ts'

/** What handlers find on Hono's context. */
export interface AppEnv {
  Bindings: Bindings
  Variables: {
    requestId: string
    /** The isolate's services: set for every route, once settings are right. */
    isolate: Isolate
    /** The token by which the request was authorized. */
    token?: Token
    /** Whether it has one, once that was asked. */
    isAuthorized?: boolean
    /** Set on paths that are timed. */
    databaseTime?: DatabaseTime
  }
}

/** The path by which clients reach one of the Worker's own paths. */
export function publicPath(c: Context<AppEnv>, path: string): string {
  return basePathOf(c.env) + path
}
