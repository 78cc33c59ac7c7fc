import type { Context } from 'hono'
import type { AppEnv } from './app-env.ts'
import type { Counter } from './counters/counter.ts'
import { KEEP_MS } from './counters/kept-totals.ts'
import { Overloaded } from './counters/overloaded.ts'
import type { Reading } from './counters/read.ts'
import { Problem } from './problem.ts'

/** What a request reads, and how long it may be kept. */
export interface Answer {
  readings: Reading[]
  /** Seconds; `null`: it is to be asked for anew every time. */
  maxAge: number | null
}

/**
 * Reads counters for a request, sharing queries with others.
 *
 * @param counters at most `MAX_READ`
 * @throws {DatabaseFailure}
 * @throws {Problem} 503
 */
export async function readFor(
  c: Context<AppEnv>,
  counters: readonly Counter[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<Answer> {
  const { exact, rolled } = c.var.reads
  const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work)
  try {
    if (consistency === 'exact') {
      const { readings, shared, tookMs } = await exact.read(counters, waitUntil)
      c.get('databaseTime')?.add(tookMs, shared)
      return { readings, maxAge: null }
    }
    const fresh = /\bno-cache\b/i.test(c.req.header('Cache-Control') ?? '')
    const { readings, shared, tookMs, ageMs } = await rolled.read(counters, waitUntil, { fresh })
    c.get('databaseTime')?.add(tookMs, shared)
    return { readings, maxAge: Math.max(0, Math.round((KEEP_MS - ageMs) / 1_000)) }
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error
    throw new Problem('overloaded', {
      detail: 'More is waiting for the database than can be taken on. Try again later.',
      headers: { 'Retry-After': '5' },
    })
  }
}
