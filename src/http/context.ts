import type { Context } from 'hono'
import type { Bindings } from '../config/bindings.ts'
import type { Token } from '../config/tokens.ts'
import type { DatabaseTime } from './database-time.ts'

/** What handlers find on Hono's context. They reach everything else with `isolateOf(c.env)`. */
export interface AppEnv {
  Bindings: Bindings
  Variables: {
    requestId: string
    /** The token by which the request was authorized. */
    token?: Token
    /** Whether it has one, once that was asked. */
    isAuthorized?: boolean
    /** Set on paths that are timed. */
    databaseTime?: DatabaseTime
  }
}

/** Keeps work going if the client hangs up. */
export function waitUntilOf(c: Context<AppEnv>): (work: Promise<unknown>) => void {
  return (work) => c.executionCtx.waitUntil(work)
}
