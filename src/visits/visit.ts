import type { Context } from 'hono'
import type { AppEnv } from '../app-env.ts'
import type { Counter } from '../counters/counter.ts'
import { countFor } from '../counting.ts'
import type { Isolate } from '../isolate.ts'

/** How a visit is counted. */
export interface VisitOptions {
  /** Seconds within which one visitor counts once; 0 counts every time. */
  dedupeSeconds: number
  /** What the client can do when nobody knows whether it was counted. */
  advice: string
  /** See `CountOptions`. */
  answerReady?: boolean
}

/**
 * Counts one for a visitor, once per window.
 *
 * @returns what to say in `X-Hit`
 * @throws {Problem}
 */
export async function countVisit(
  c: Context<AppEnv>,
  isolate: Isolate,
  counter: Counter,
  { dedupeSeconds, advice, answerReady = false }: VisitOptions,
): Promise<string> {
  const counting = [{ counter, by: 1n }]
  const visit = dedupeSeconds === 0 ? undefined : await visitOf(c, isolate, counter, dedupeSeconds)
  if (visit === undefined) return countFor(c, isolate.counting, counting, { advice, answerReady })
  if (isolate.visitors.wasCounted(visit)) return 'ignored; reason=duplicate'
  const outcome = await countFor(c, isolate.counting, counting, { key: visit, advice, answerReady })
  isolate.visitors.counted(visit)
  return outcome
}

/** The visit that a request belongs to, if its visitor can be told from others. */
async function visitOf(
  c: Context<AppEnv>,
  { visitors }: Isolate,
  counter: Counter,
  dedupeSeconds: number,
): Promise<bigint | undefined> {
  // Set by Cloudflare, whatever the client sends. Without it visitors cannot be told apart, and every request counts.
  const address = c.req.header('CF-Connecting-IP')
  if (address === undefined) return undefined
  const agent = c.req.header('User-Agent') ?? ''
  return visitors.visit({ address, agent }, counter, dedupeSeconds, new Date())
}
