import type { Context } from 'hono'
import { isolateOf } from '../isolate.ts'
import { exceedsLimit, LONGEST_PERIOD } from '../visits/rate-limit.ts'
import { isAuthorized } from './authorization.ts'
import type { AppEnv } from './context.ts'
import { Problem } from './problem.ts'

/** Keys that cost as much as a reading of one. */
const KEYS_PER_READING = 100

/**
 * Refuses public readings of a network above its limit, before anything is read. Each hundred keys are a reading. Requests with a
 * token have no limit.
 *
 * @throws {Problem} 429
 */
export async function limitReading(c: Context<AppEnv>): Promise<void> {
  const { readLimit } = isolateOf(c.env).config
  if (readLimit === null || (await isAuthorized(c))) return
  // All parameters, because a name may be written in many ways: k%65y=.
  const keys = c.req.url.split('&').length
  let exceeded = false
  for (let read = 0; read < keys && !exceeded; read += KEYS_PER_READING) {
    exceeded = await exceedsLimit(readLimit, c.req.header('CF-Connecting-IP') ?? null)
  }
  if (!exceeded) return
  throw new Problem('too_many_requests', {
    detail: 'Your network reads counters too often. Wait a minute, or send the API token.',
    headers: { 'Retry-After': String(LONGEST_PERIOD) },
  })
}
