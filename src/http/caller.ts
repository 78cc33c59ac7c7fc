import type { Context } from 'hono'
import type { Caller } from '../service/caller.ts'
import type { Visitor } from '../service/count-visit.ts'
import { isAuthorized } from './authorization.ts'
import { isMarked } from './cookies.ts'
import type { AppEnv } from './hono.ts'

/** The request as a caller of the services. */
export function callerOf(c: Context<AppEnv>): Caller {
  const isolate = c.get('isolate')
  const databaseTime = c.get('databaseTime')
  return {
    isolate,
    db: databaseTime?.of(isolate.db) ?? isolate.db,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
    hasToken: () => isAuthorized(c),
    wantsFresh: /\bno-cache\b/i.test(c.req.header('Cache-Control') ?? ''),
    databaseTime,
  }
}

/** Who sent the request. */
export function visitorOf(c: Context<AppEnv>): Visitor {
  const { headers } = c.req.raw
  return {
    address: headers.get('CF-Connecting-IP'),
    agent: headers.get('User-Agent') ?? '',
    // Most requests have no cookie.
    marked: headers.has('Cookie') && isMarked(c),
    // Hono calls the handler of GET for HEAD too.
    isHead: c.req.method === 'HEAD',
    headers,
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
