import type { CounterType } from '../config/counter-types.ts'
import type { CounterAddress } from '../counters/counter-address.ts'
import { MAX_PENDING, MAX_PUBLIC_PENDING } from '../counters/counters-sql.ts'
import type { Question } from '../counters/read/kept-answers.ts'
import { consistencyOf, countIn, type Reading } from '../counters/read/read-counters.ts'
import { CACHED_MS, MAX_AGE_MS, type WhichSum } from '../counters/read/reads.ts'
import type { Caller } from './caller.ts'
import { countersOfKeys } from './named-counters.ts'

/** Milliseconds for which callers without a token share an answer that takes many rows. */
const KEPT_MS = 10_000

/** Reads up to `MAX_READ` counters. Those with very many pending slots, fewer without a token, are read as `rolled`. */
export async function readCounters(caller: Caller, counters: readonly CounterAddress[], which: WhichSum = 'exact') {
  const { isolate, waitUntil } = caller
  if (which !== 'rolled') {
    const most = (await caller.hasToken()) ? MAX_PENDING : mostPublicPending(counters.length)
    const period = which === 'exact' ? null : which
    return { readings: await isolate.reads.counters(counters, most, waitUntil, period), maxAge: null }
  }
  const { readings, ageMs } = await isolate.reads.totals(counters, { fresh: caller.wantsFresh, waitUntil })
  return { readings, maxAge: maxAgeOf(ageMs) }
}

/** How many pending slots of each of some counters are added up for a request without a token. */
function mostPublicPending(counters: number): number {
  return counters === 1 ? MAX_PUBLIC_PENDING : counters <= 10 ? MAX_PUBLIC_PENDING / 10 : MAX_PUBLIC_PENDING / 100
}

function maxAgeOf(ageMs: number): number {
  return Math.max(0, Math.round((MAX_AGE_MS - ageMs) / 1_000))
}

/** Reads what takes many rows; without a token, shared for ten seconds. @param question `null`: few rows @returns `asOf`: if it was kept */
export async function readKept<Value>(caller: Caller, question: Question | null, read: () => Promise<Value>) {
  if (question === null || (await caller.hasToken())) return { value: await read(), asOf: null }
  return readForAll(caller, question, KEPT_MS, read)
}

/** The same for all callers, with a token or without. `maxAge`: the seconds for which the answer is still kept */
export async function readForAll<Value>(
  { isolate, waitUntil }: Caller,
  question: Question,
  keptMs: number,
  read: () => Promise<Value>,
) {
  const { value, askedAt, isKept } = await isolate.kept.answer(question, { keptMs, read, waitUntil })
  const maxAge = Math.max(0, Math.ceil((askedAt + keptMs - Date.now()) / 1_000))
  return { value, asOf: isKept ? new Date(askedAt).toISOString() : null, maxAge }
}

/** Reads the sum of a type, or of a prefix; concurrent calls share a query. @throws {TooManyKeys} */
export async function readSum(caller: Caller, { recordType }: CounterType, prefix: string | null, which: WhichSum) {
  const { isolate, waitUntil, wantsFresh } = caller
  const hasToken = await caller.hasToken()
  const isShared = prefix !== null && !hasToken
  const keptMs = isShared ? KEPT_MS : which === 'rolled' && !wantsFresh ? CACHED_MS : 0
  const options = { keptMs, hasToken, waitUntil }
  const { value, askedAt, isKept } = await isolate.reads.sum({ recordType, name: prefix ?? '' }, which, options)
  return {
    reading: value,
    maxAge: which === 'rolled' ? maxAgeOf(Date.now() - askedAt) : null,
    asOf: isShared && isKept ? new Date(askedAt).toISOString() : null,
  }
}

/** A counter that a caller asks for. `key`: as it was asked for, which the answer repeats */
export interface AskedCounter {
  caller: Caller
  type: CounterType
  key: string
  counter: CounterAddress
}

/** The answer to who reads a counter, and the seconds for which it may be cached; `null`: always revalidate. */
export async function counterAnswer({ caller, type, key, counter }: AskedCounter, which: WhichSum) {
  const { readings, maxAge } = await readCounters(caller, [counter], which)
  return { answer: counterFields(type, key, readings[0]!), maxAge }
}

/** The same of several counters. @throws {InvalidInput} of field `key.…` */
export async function countersAnswer(caller: Caller, type: CounterType, keys: readonly string[], which: WhichSum) {
  const counters = await countersOfKeys(caller.isolate, type, keys)
  const { readings, maxAge } = await readCounters(caller, counters, which)
  return { answer: { counters: readings.map((reading, nth) => counterFields(type, keys[nth]!, reading)) }, maxAge }
}

/** The same of a total. @throws {TooManyKeys} */
export async function totalAnswer(caller: Caller, type: CounterType, prefix: string | null, which: WhichSum) {
  const { reading, maxAge, asOf } = await readSum(caller, type, prefix, which)
  const fields = { type: type.name, prefix, ...readingFields(reading) }
  return { answer: { ...fields, ...consistencyFields(consistencyOf(reading), asOf) }, maxAge }
}

function counterFields(type: CounterType, key: string, reading: Reading) {
  return { type: type.name, key, ...readingFields(reading), consistency: consistencyOf(reading) }
}

function readingFields(reading: Reading) {
  const { total, pending, rolledUpAt } = reading
  return { count: countIn(reading), total, pending, rolledUpAt: rolledUpAt?.toISOString() ?? null }
}

/** `answeredConsistency` of an answer. @param asOf as `readKept` returns it */
export function consistencyFields<Read extends string>(consistency: Read, asOf: string | null) {
  return asOf === null ? { consistency } : { consistency: 'kept' as const, asOf }
}
