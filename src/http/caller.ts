import type { Context } from 'hono'
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

/** Waits for a count, but not for long: then the answer is `late`. Counting continues after that. */
export async function withinTime<Counted>(
  c: Context<AppEnv>,
  counting: Promise<Counted>,
  milliseconds: number,
  late: Counted,
): Promise<Counted> {
  c.executionCtx.waitUntil(counting)
  const { promise: over, resolve } = Promise.withResolvers<Counted>()
  const timer = setTimeout(resolve, milliseconds, late)
  try {
    return await Promise.race([counting, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Continues work whose client hangs up: it must not leave a transaction open, with its locks. */
export function finished<Done>(c: Context<AppEnv>, work: Promise<Done>): Promise<Done> {
  c.executionCtx.waitUntil(work.catch(() => {}))
  return work
}
