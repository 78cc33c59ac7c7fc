import type { CounterType } from '../config/counter-types.ts'
import type { Reading } from '../counters/read/read-counters.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { publicReading } from '../http/endpoint.ts'
import { counterOfKey } from '../http/named-counters.ts'
import { readCountersFor } from '../http/read-for-request.ts'
import { isolateOf } from '../isolate.ts'
import { read, type readContract, readMany, type readManyContract } from './counters-contract.ts'

/** Reads one counter. */
export const counter = publicReading<typeof readContract>(read, async (c, { type, key, counter, query }) => {
  const { readings, maxAge } = await readCountersFor(c, [counter], query.consistency)
  return { answer: toAnswer(type, key, readings[0]!, toJsonNumber), maxAge }
})

/** Reads several counters of a type. */
export const counters = publicReading<typeof readManyContract>(readMany, async (c, { type, query }) => {
  const { addresses } = isolateOf(c.env)
  const named = await Promise.all(query.key.map((key, index) => counterOfKey(addresses, type, key, `key.${index}`)))
  const { readings, maxAge } = await readCountersFor(c, named, query.consistency)
  const answers = readings.map((reading, index) => toAnswer(type, query.key[index]!, reading, toJsonNumber))
  return { answer: { counters: answers }, maxAge }
})

/** What is answered about a counter. */
export function toAnswer<Count>(
  type: CounterType,
  key: string,
  { total, pending, rolledUpAt }: Reading,
  toCount: (count: bigint) => Count,
) {
  return {
    type: type.name,
    key,
    count: toCount(total + pending),
    total: toCount(total),
    pending: toCount(pending),
    rolledUpAt: rolledUpAt?.toISOString() ?? null,
  }
}
