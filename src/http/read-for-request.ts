import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { type TotalReading, totalOf } from '../counters/history/read-total.ts'
import type { RecentPeriod } from '../counters/history/recent-period.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import type { Reading } from '../counters/read/read-counters.ts'
import type { SharedReading, SharedReads } from '../counters/read/shared-reads.ts'
import { MAX_AGE_MS, type TotalsCache } from '../counters/read/totals-cache.ts'
import { FEW, isolateOf } from '../isolate.ts'
import { isAuthorized } from './authorization.ts'
import { type AppEnv, waitUntilOf } from './context.ts'

/** Milliseconds for which strangers get the same answer, where it takes many rows. */
const KEPT_MS = 10_000

/**
 * Reads counters for a request. Requests that arrive together share a query. Without a token, counters with very many pending
 * slots are read as of the last roll-up.
 *
 * @param counters at most `MAX_READ`
 */
export async function readCountersFor(
  c: Context<AppEnv>,
  counters: readonly CounterAddress[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<{ readings: Reading[]; maxAge: number | null }> {
  const { exact, bounded, totals: rolled } = isolateOf(c.env).reads
  const { one, few, many } = bounded
  const ofStranger = counters.length === 1 ? one : counters.length <= FEW ? few : many
  const asked = (await isAuthorized(c)) ? exact : ofStranger
  const { values, maxAge } = await readCacheable(c, { exact: asked, rolled }, counters, consistency)
  return { readings: values, maxAge }
}

/**
 * Reads what takes many rows. Strangers get an answer that is at most ten seconds old and that all of them share; whoever has a
 * token gets it as it is now.
 *
 * @param question what is asked: the same for the same answer
 */
export async function readKept<Value>(
  c: Context<AppEnv>,
  question: readonly (string | number | null)[],
  read: () => Promise<Value>,
): Promise<Value> {
  if (await isAuthorized(c)) return read()
  const options = { keptMs: KEPT_MS, read, waitUntil: waitUntilOf(c) }
  return (await isolateOf(c.env).kept.answer(JSON.stringify(question), options)).value
}

/** What is read, and the seconds for which it may be cached; `null`: it must be revalidated every time. */
async function readCacheable<Value>(
  c: Context<AppEnv>,
  { exact, rolled }: { exact: Pick<SharedReads<Value>, 'read'>; rolled: TotalsCache<Value> },
  counters: readonly CounterAddress[],
  consistency: 'exact' | 'rolled',
): Promise<{ values: Value[]; maxAge: number | null }> {
  if (consistency === 'exact') {
    return { values: await timedValues(c, exact.read(counters, waitUntilOf(c))), maxAge: null }
  }
  const fresh = /\bno-cache\b/i.test(c.req.header('Cache-Control') ?? '')
  const reading = rolled.read(counters, waitUntilOf(c), { fresh })
  const values = await timedValues(c, reading)
  const { ageMs } = await reading
  return { values, maxAge: Math.max(0, Math.round((MAX_AGE_MS - ageMs) / 1_000)) }
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
  const total = await totalOf(recordType, prefix)
  const { exact, bounded, rolled } = isolateOf(c.env).reads.sums
  const asked = (await isAuthorized(c)) ? exact : bounded
  const read = () => readCacheable(c, { exact: asked, rolled }, [total], consistency)
  const { values, maxAge } =
    prefix === null ? await read() : await readKept(c, ['total', recordType, prefix, consistency], read)
  return { reading: orThrow(values[0]!), maxAge }
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
  const { recent } = isolateOf(c.env).reads.sums
  const read = () => timedValues(c, recent[period].read([total], waitUntilOf(c)))
  const [reading] = prefix === null ? await read() : await readKept(c, ['total', recordType, prefix, period], read)
  return orThrow(reading!)
}

/** @throws {TooManyKeys} if that is what was read */
export function orThrow(reading: TotalReading | TooManyKeys): TotalReading {
  if (reading instanceof TooManyKeys) throw reading
  return reading
}

async function timedValues<Value>(c: Context<AppEnv>, reading: Promise<SharedReading<Value>>): Promise<Value[]> {
  const { values, shared, tookMs } = await reading
  c.get('databaseTime')?.add(tookMs, shared)
  return values
}
