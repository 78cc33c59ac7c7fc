import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { sumOf, TooManyKeys } from '../counters/keys/prefix.ts'
import { consistencyOf, countIn, MAX_READ, type Reading } from '../counters/read/read-counters.ts'
import type { SumReading } from '../counters/read/read-sum.ts'
import type { RecentPeriod } from '../counters/read/recent-period.ts'
import { MAX_AGE_MS, type RolledCache, type SharedReads } from '../counters/read/shared-reads.ts'
import { FEW } from '../isolate.ts'
import { described } from '../openapi/contract.ts'
import type { Caller } from './caller.ts'
import { consistency, prefixField } from './shared-fields.ts'

const KEYS_RULE = `must be given 1 to ${MAX_READ} times: ?key=a&key=b`

export const counterQuery = () => ({ consistency: consistency() })
export const countersQuery = () => ({
  key: described(
    v.pipe(v.array(v.string(), KEYS_RULE), v.minLength(1, KEYS_RULE), v.maxLength(MAX_READ, KEYS_RULE)),
    'A key. Repeat the parameter for each key: `?key=a&key=b`.',
  ),
  consistency: consistency(),
})
export const totalQuery = () => ({ prefix: prefixField(), consistency: consistency() })

/** Milliseconds for which callers without a token share an answer that takes many rows. */
const KEPT_MS = 10_000

/** Reads up to `MAX_READ` counters. Those with very many pending slots, fewer without a token, are read as `rolled`. */
export async function readCounters(
  caller: Caller,
  counters: readonly CounterAddress[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<{ readings: Reading[]; maxAge: number | null }> {
  const { exact, bounded, rolled } = caller.isolate.reads
  const { one, few, many } = bounded
  const ofStranger = counters.length === 1 ? one : counters.length <= FEW ? few : many
  const asked = (await caller.hasToken()) ? exact : ofStranger
  const { values, maxAge } = await readCacheable(caller, { exact: asked, rolled }, counters, consistency)
  return { readings: values, maxAge }
}

/** `asOf`: when an answer was read that was kept from an earlier request; `null`: it was read for this one. */
interface Kept<Value> {
  value: Value
  asOf: string | null
}

/**
 * Reads what takes many rows. Without a token, callers share the answer to a question for ten seconds, also that there are too
 * many keys: finding that reads as many rows.
 * @param question `null`: it takes few rows, and is not kept
 */
export async function readKept<Value>(
  caller: Caller,
  question: readonly (string | number | null)[] | null,
  read: () => Promise<Value>,
): Promise<Kept<Value>> {
  if (question === null || (await caller.hasToken())) return { value: await read(), asOf: null }
  return readForAll(caller, question, KEPT_MS, read)
}

/** The same for all callers, with a token or without. */
export async function readForAll<Value>(
  { isolate, waitUntil }: Caller,
  question: readonly (string | number | null)[],
  keptMs: number,
  read: () => Promise<Value>,
): Promise<Kept<Value>> {
  const readOrRefuse = () =>
    read().catch((error: unknown) => {
      if (error instanceof TooManyKeys) return error
      throw error
    })
  const options = { keptMs, read: readOrRefuse, waitUntil }
  const { value, askedAt, isKept } = await isolate.kept.answer(JSON.stringify(question), options)
  if (value instanceof TooManyKeys) throw value
  return { value, asOf: isKept ? new Date(askedAt).toISOString() : null }
}

/** The values, and the seconds for which they may be cached; `null`: revalidate every time. */
async function readCacheable<Value>(
  caller: Caller,
  { exact, rolled }: { exact: Pick<SharedReads<Value>, 'read'>; rolled: RolledCache<Value> },
  counters: readonly CounterAddress[],
  consistency: 'exact' | 'rolled',
): Promise<{ values: Value[]; maxAge: number | null }> {
  if (consistency === 'exact') {
    return { values: await exact.read(counters, caller.waitUntil), maxAge: null }
  }
  const { values, ageMs } = await rolled.read(counters, caller.waitUntil, { fresh: caller.wantsFresh })
  return { values, maxAge: Math.max(0, Math.round((MAX_AGE_MS - ageMs) / 1_000)) }
}

/** Reads what was counted in a period that ends now; concurrent calls share a query. */
export async function readRecent(caller: Caller, counter: CounterAddress, period: RecentPeriod): Promise<bigint> {
  const [count] = await caller.isolate.reads.recent[period].read([counter], caller.waitUntil)
  return count!
}

/**
 * Reads the sum of a type, or of a prefix; concurrent calls share a query.
 * @param which also a period that ends now @throws {TooManyKeys}
 */
export async function readSum(
  caller: Caller,
  { recordType }: CounterType,
  prefix: string | null,
  which: 'exact' | 'rolled' | RecentPeriod,
): Promise<{ reading: SumReading; maxAge: number | null; asOf: string | null }> {
  const sum = await sumOf(recordType, prefix)
  const { exact, bounded, rolled, recent } = caller.isolate.reads.sums
  const ofAllTime = (await caller.hasToken()) ? exact : bounded
  const asked = which === 'exact' || which === 'rolled' ? ofAllTime : recent[which]
  const read = () => readCacheable(caller, { exact: asked, rolled }, [sum], which === 'rolled' ? which : 'exact')
  const question = prefix === null ? null : ['total', recordType, prefix, which]
  const { value, asOf } = await readKept(caller, question, read)
  const [reading] = value.values
  if (reading instanceof TooManyKeys) throw reading
  return { reading: reading!, maxAge: value.maxAge, asOf }
}

/** What is told of a counter. */
export function counterAnswer(type: CounterType, key: string, reading: Reading) {
  return { type: type.name, key, ...readingFields(reading), consistency: consistencyOf(reading) }
}

/** What is told of a total. */
export function totalAnswer(type: CounterType, prefix: string | null, reading: SumReading, asOf: string | null) {
  return { type: type.name, prefix, ...readingFields(reading), ...saidOf(consistencyOf(reading), asOf) }
}

function readingFields(reading: Reading | SumReading) {
  const { total, pending, rolledUpAt } = reading
  return { count: countIn(reading), total, pending, rolledUpAt: rolledUpAt?.toISOString() ?? null }
}

/** `consistencyFields` of an answer. @param asOf that of `Kept` */
export function saidOf<Read extends string>(consistency: Read, asOf: string | null) {
  return asOf === null ? { consistency } : { consistency: 'kept' as const, asOf }
}
