import type { Context } from 'hono'
import type { CounterAddress } from '../counters/counter-address.ts'
import { isolateOf } from '../isolate.ts'
import { networkOf } from '../visits/network.ts'
import type { AppEnv } from './context.ts'
import { addToCounters } from './count-for-request.ts'

/** How to count a visit. */
export interface VisitOptions {
  /** Seconds within which one visitor counts once; 0 counts every time. */
  dedupeSeconds: number
  /** What the client can do if nobody knows whether it was counted. */
  advice: string
  /** See `CountOptions`. */
  answerReady?: boolean
}

/**
 * Counts one for a visitor, once per window.
 *
 * @returns the value of `X-Hit`
 * @throws {Problem}
 */
export async function countVisit(
  c: Context<AppEnv>,
  counter: CounterAddress,
  { dedupeSeconds, advice, answerReady = false }: VisitOptions,
): Promise<string> {
  const counting = [{ counter, by: 1n }]
  const visit = dedupeSeconds === 0 ? undefined : await visitOf(c, counter, dedupeSeconds)
  if (visit === undefined) return addToCounters(c, counting, { advice, answerReady })
  const { visitors } = isolateOf(c.env)
  if (visitors.wasCounted(visit)) return 'ignored; reason=duplicate'
  const outcome = await addToCounters(c, counting, { key: visit, advice, answerReady })
  visitors.markCounted(visit)
  return outcome
}

/** The visit that a request belongs to, if its visitor can be recognized. */
async function visitOf(
  c: Context<AppEnv>,
  counter: CounterAddress,
  dedupeSeconds: number,
): Promise<bigint | undefined> {
  // Cloudflare sets it, whatever the client sends. Without it every request counts, because visitors look the same.
  const network = networkOf(c.req.header('CF-Connecting-IP') ?? '')
  if (network === null) return undefined
  const agent = c.req.header('User-Agent') ?? ''
  const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work)
  const window = { seconds: dedupeSeconds, at: new Date(), waitUntil }
  return isolateOf(c.env).visitors.visit({ network, agent }, counter, window)
}
