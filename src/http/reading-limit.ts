import type { Context } from 'hono'
import { isolateOf } from '../isolate.ts'
import { exceedsLimit, LONGEST_PERIOD } from '../visits/rate-limit.ts'
import { isAuthorized } from './authorization.ts'
import type { AppEnv } from './context.ts'
import { Problem } from './problem.ts'

/**
 * Refuses public readings of a network above its limit, before anything is read. Requests with a token have none.
 *
 * @throws {Problem} 429
 */
export async function limitReading(c: Context<AppEnv>): Promise<void> {
  const { readLimit } = isolateOf(c.env).config
  if (readLimit === null || (await isAuthorized(c))) return
  if (!(await exceedsLimit(readLimit, c.req.header('CF-Connecting-IP') ?? null))) return
  throw new Problem('too_many_requests', {
    detail: 'Your network reads counters too often. Wait a minute, or send the API token.',
    headers: { 'Retry-After': String(LONGEST_PERIOD) },
  })
}
