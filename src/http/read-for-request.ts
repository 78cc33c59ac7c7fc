import type { Context } from 'hono'
import type { CounterAddress } from '../counters/counter-address.ts'
import type { RecentPeriod } from '../counters/history/recent-period.ts'
import type { Reading } from '../counters/read/read-counters.ts'
import type { SharedReading } from '../counters/read/shared-reads.ts'
import { MAX_AGE_MS } from '../counters/read/totals-cache.ts'
import { isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'

/** What a request reads, and how long it may be cached. */
export interface CacheableReadings {
  readings: Reading[]
  /** Seconds; `null`: it must be revalidated every time. */
  maxAge: number | null
}

/**
 * Reads counters for a request. Requests that arrive together share a query.
 *
 * @param counters at most `MAX_READ`
 */
export async function readCountersFor(
  c: Context<AppEnv>,
  counters: readonly CounterAddress[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<CacheableReadings> {
  const { exact, totals } = isolateOf(c.env).reads
  if (consistency === 'exact') {
    const read = exact.read(counters, waitUntilOf(c))
    return { readings: await timedValues(c, read), maxAge: null }
  }
  const fresh = /\bno-cache\b/i.test(c.req.header('Cache-Control') ?? '')
  const read = totals.read(counters, waitUntilOf(c), { fresh })
  const readings = await timedValues(c, read)
  return { readings, maxAge: Math.max(0, Math.round((MAX_AGE_MS - (await read).ageMs) / 1_000)) }
}

/** Reads what was counted in a period that ends now, for a request. Requests that arrive together share a query. */
export async function readRecentFor(
  c: Context<AppEnv>,
  counter: CounterAddress,
  period: RecentPeriod,
): Promise<bigint> {
  const [count] = await timedValues(c, isolateOf(c.env).reads.recent[period].read([counter], waitUntilOf(c)))
  return count!
}

function waitUntilOf(c: Context<AppEnv>): (work: Promise<unknown>) => void {
  return (work) => c.executionCtx.waitUntil(work)
}

async function timedValues<Value>(c: Context<AppEnv>, reading: Promise<SharedReading<Value>>): Promise<Value[]> {
  const { values, shared, tookMs } = await reading
  c.get('databaseTime')?.add(tookMs, shared)
  return values
}
