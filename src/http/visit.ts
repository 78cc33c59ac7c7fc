import type { Context } from 'hono'
import { Visitor } from '../visits/visitor.ts'
import type { AppEnv } from './context.ts'
import { isMarked } from './cookies.ts'

/** The visitor who sent the request. */
export function visitorOf(c: Context<AppEnv>): Visitor {
  return new Visitor(c.req.raw.headers, isMarked(c))
}

/** Waits for a count, at most so many milliseconds: then it returns `late`, and counting continues. */
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
