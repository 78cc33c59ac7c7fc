import type { Context } from 'hono'
import { within } from '../counters/shared-work-state.ts'
import type { Caller } from '../service/caller.ts'
import { isAuthorized } from './authorization.ts'
import type { AppEnv } from './hono.ts'

/** The request as a caller of the services. */
export function callerOf(c: Context<AppEnv>): Caller {
  const isolate = c.get('isolate')
  return {
    isolate,
    db: isolate.readDb,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
    hasToken: () => isAuthorized(c),
    wantsFresh: /\bno-cache\b/i.test(c.req.header('Cache-Control') ?? ''),
  }
}

/** Waits for a count, which never fails, but not for long: then the answer is `late`. Counting continues after that. */
export function withinTime<Counted>(
  c: Context<AppEnv>,
  counting: Promise<Counted>,
  milliseconds: number,
  late: Counted,
): Promise<Counted> {
  c.executionCtx.waitUntil(counting)
  return within(milliseconds, counting).catch(() => late)
}

/** Continues work whose client hangs up: it must not leave a transaction open, with its locks. */
export function waitUntilDone<Done>(c: Context<AppEnv>, work: Promise<Done>): Promise<Done> {
  c.executionCtx.waitUntil(work.catch(() => {}))
  return work
}
