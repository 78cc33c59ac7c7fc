import type { CounterType } from '../config.ts'
import { hash64 } from './hash.ts'

/** Longest key, in bytes of UTF-8. The names table has room for just as many. */
export const MAX_KEY_BYTES = 512

const MAX_RECORD_ID = 2n ** 64n - 1n
const encoder = new TextEncoder()

/** One counter: its address in the database, and the name to remember for it. */
export interface Counter {
  recordType: number
  recordId: bigint
  /** The key as people write it; `null` where the record id is the key. */
  name: string | null
}

/** What finding a counter takes of its type. */
export type KeyedType = Pick<CounterType, 'recordType' | 'key'>

/** Thrown for a key that its type does not take; the message says what is wrong with it, not what it was. */
export class InvalidKey extends Error {}

/**
 * Finds the counter that a key stands for.
 *
 * @throws {InvalidKey}
 */
export async function counterOf(type: KeyedType, key: string): Promise<Counter> {
  if (key === '') throw new InvalidKey('must not be empty')
  if (type.key === 'integer') {
    // One spelling per number: "007" and "7" would be one counter under two names.
    const recordId = /^(0|[1-9]\d{0,19})$/.test(key) ? BigInt(key) : null
    if (recordId === null || recordId > MAX_RECORD_ID) {
      throw new InvalidKey(`must be a decimal number from 0 to ${MAX_RECORD_ID} without leading zeros`)
    }
    return { recordType: type.recordType, recordId, name: null }
  }
  // A UTF-16 code unit takes at most 3 bytes, so short keys need no counting.
  if (key.length > MAX_KEY_BYTES / 3) {
    const bytes = encoder.encode(key).length
    if (bytes > MAX_KEY_BYTES) throw new InvalidKey(`must have at most ${MAX_KEY_BYTES} bytes of UTF-8, not ${bytes}`)
  }
  if (key.includes('\0')) throw new InvalidKey('must not contain NUL')
  if (!key.isWellFormed()) throw new InvalidKey('must be well-formed Unicode, without lone surrogates')
  return { recordType: type.recordType, recordId: await hash64(key), name: key }
}

/** Text that tells counters apart, for maps and sets. */
export function counterId(counter: { recordType: number; recordId: bigint }): string {
  return `${counter.recordType}/${counter.recordId}`
}

/**
 * The order of the primary key. Every statement names its rows in it, so that no two lock them in opposite orders.
 * Addresses without a slot are compared by counter.
 */
export function byPrimaryKey(a: Address, b: Address): number {
  if (a.recordType !== b.recordType) return a.recordType - b.recordType
  if (a.recordId !== b.recordId) return a.recordId < b.recordId ? -1 : 1
  const [slotA, slotB] = [a.slot ?? 0n, b.slot ?? 0n]
  return slotA < slotB ? -1 : slotA > slotB ? 1 : 0
}

/** Where a counter, or one of its slots, is in the database. */
interface Address {
  recordType: number
  recordId: bigint
  slot?: bigint
}
