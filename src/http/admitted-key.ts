import type { Context } from 'hono'
import type { CounterAddress } from '../counters/counter-address.ts'
import { isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'
import { problemOf } from './problem-of.ts'

/**
 * Whether the key of a public request counts: its counter exists, or it may come into being.
 *
 * @throws {Problem} if the database does not answer; nothing was counted
 */
export async function isAdmitted(c: Context<AppEnv>, counter: CounterAddress): Promise<boolean> {
  try {
    return await isolateOf(c.env).admission.admits(counter, (work) => c.executionCtx.waitUntil(work))
  } catch (error) {
    throw problemOf(error)
  }
}
