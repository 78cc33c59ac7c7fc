import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { type TotalReading, totalOf } from '../counters/history/read-total.ts'
import type { RecentPeriod } from '../counters/history/recent-period.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import type { Reading } from '../counters/read/read-counters.ts'
import type { SharedReading } from '../counters/read/shared-reads.ts'
import { MAX_AGE_MS } from '../counters/read/totals-cache.ts'
import { isolateOf } from '../isolate.ts'
import { type AppEnv, waitUntilOf } from './context.ts'

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
  const read = totals.read(counters, waitUntilOf(c), { fresh: asksForFresh(c) })
  const readings = await timedValues(c, read)
  return { readings, maxAge: maxAgeOf(await read) }
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

/**
 * Reads the total of a type, or of a prefix, for a request. Requests that arrive together share a query.
 *
 * @throws {TooManyKeys}
 */
export async function readTotalFor(
  c: Context<AppEnv>,
  { recordType }: CounterType,
  prefix: string | null,
  consistency: 'exact' | 'rolled',
): Promise<{ reading: TotalReading; maxAge: number | null }> {
  const { exact, rolled } = isolateOf(c.env).reads.sums
  const total = await totalOf(recordType, prefix)
  if (consistency === 'exact') {
    const [reading] = await timedValues(c, exact.read([total], waitUntilOf(c)))
    return { reading: orThrow(reading!), maxAge: null }
  }
  const cached = rolled.read([total], waitUntilOf(c), { fresh: asksForFresh(c) })
  const [reading] = await timedValues(c, cached)
  return { reading: orThrow(reading!), maxAge: maxAgeOf(await cached) }
}

/**
 * Reads what the counters of a type or prefix counted in a period that ends now, for a request.
 *
 * @throws {TooManyKeys}
 */
export async function readRecentTotalFor(
  c: Context<AppEnv>,
  { recordType }: CounterType,
  prefix: string | null,
  period: RecentPeriod,
): Promise<TotalReading> {
  const total = await totalOf(recordType, prefix)
  const [reading] = await timedValues(c, isolateOf(c.env).reads.sums.recent[period].read([total], waitUntilOf(c)))
  return orThrow(reading!)
}

/** @throws {TooManyKeys} if that is what was read */
export function orThrow(reading: TotalReading | TooManyKeys): TotalReading {
  if (reading instanceof TooManyKeys) throw reading
  return reading
}

function asksForFresh(c: Context<AppEnv>): boolean {
  return /\bno-cache\b/i.test(c.req.header('Cache-Control') ?? '')
}

function maxAgeOf({ ageMs }: { ageMs: number }): number {
  return Math.max(0, Math.round((MAX_AGE_MS - ageMs) / 1_000))
}

async function timedValues<Value>(c: Context<AppEnv>, reading: Promise<SharedReading<Value>>): Promise<Value[]> {
  const { values, shared, tookMs } = await reading
  c.get('databaseTime')?.add(tookMs, shared)
  return values
}
