import type { Context } from 'hono'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import { isolateOf } from '../isolate.ts'
import { subscriberOf } from '../visits/network.ts'
import type { AppEnv } from './context.ts'
import { problemOf } from './problem-of.ts'

/**
 * Whether the key of a public request counts: its counter exists, or it may come into being.
 *
 * @throws {Problem} if the database does not answer; nothing was counted
 */
export async function isAdmitted(c: Context<AppEnv>, counter: CounterAddress): Promise<boolean> {
  const { keys, newKeys } = isolateOf(c.env)
  if (keys.knows(counter)) return true
  // So that no network can use up the budget that is for all of them.
  const network = subscriberOf(c.req.header('CF-Connecting-IP') ?? '')
  const mayBeNew = network === null || newKeys.allows(network, counterId(counter), Date.now())
  try {
    return await keys.admits(counter, { mayBeNew, waitUntil: (work) => c.executionCtx.waitUntil(work) })
  } catch (error) {
    throw problemOf(error)
  }
}
