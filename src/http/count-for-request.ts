import type { Context } from 'hono'
import type { Increment } from '../counters/write/apply-batch.ts'
import { isolateOf } from '../isolate.ts'
import { type AppEnv, waitUntilOf } from './context.ts'
import { problemOf } from './problem-of.ts'

/** How to count. */
export interface AddOptions {
  /** Slot and batch id of increments that count once however often they are sent. */
  key?: bigint | undefined
  /** What the client can do if nobody knows whether it was counted. */
  advice: string
  /** Whether the counters were admitted (`Keys.admits`). */
  admitted?: boolean
  /** See `CountOptions`. */
  answerReady?: boolean
}

/**
 * Counts for a request.
 *
 * @throws {Problem} that says whether anything was counted
 */
export async function addToCounters(
  c: Context<AppEnv>,
  increments: readonly Increment[],
  { key, advice, admitted = false, answerReady = false }: AddOptions,
): Promise<'counted' | 'queued'> {
  // Hits are not timed, so they have no clock.
  const clock = c.get('databaseTime')
  const began = clock === undefined ? 0 : performance.now()
  try {
    const { keys, counting } = isolateOf(c.env)
    const waitUntil = waitUntilOf(c)
    const counters = increments.map(({ counter }) => counter)
    if (!admitted) await keys.ensure(counters, waitUntil)
    return await counting.count(increments, { key, waitUntil, answerReady, named: keys.areNamed(counters) })
  } catch (error) {
    throw problemOf(error, { may: 'have been counted', advice })
  } finally {
    clock?.add(performance.now() - began)
  }
}
