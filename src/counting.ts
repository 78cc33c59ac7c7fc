import type { Context } from 'hono'
import type { AppEnv } from './app-env.ts'
import type { Increment } from './counters/batch.ts'
import type { GroupCommit } from './counters/group-commit.ts'
import { Overloaded } from './counters/overloaded.ts'
import { countingProblem } from './database-problem.ts'
import { Problem } from './problem.ts'

/**
 * Counts for a request, and says what is true for its client.
 *
 * @param key slot and batch of increments that are counted once however often they come
 * @param advice what the client can do when nobody knows whether it was counted
 * @param answerReady see `CountOptions`
 * @throws {Problem}
 */
export async function countFor(
  c: Context<AppEnv>,
  counting: GroupCommit,
  increments: readonly Increment[],
  { key, advice, answerReady = false }: { key?: bigint | undefined; advice: string; answerReady?: boolean },
): Promise<'counted' | 'queued'> {
  // Hits are not timed: they have no clock to add to.
  const clock = c.get('databaseTime')
  const began = clock === undefined ? 0 : performance.now()
  try {
    const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work)
    return await counting.count(increments, { key, waitUntil, answerReady })
  } catch (error) {
    if (!(error instanceof Overloaded)) throw countingProblem(error, advice)
    throw new Problem('overloaded', {
      detail: 'More is waiting for the database than can be taken on. Nothing was counted. Try again later.',
      headers: { 'Retry-After': '5' },
    })
  } finally {
    clock?.add(performance.now() - began)
  }
}
