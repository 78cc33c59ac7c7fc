import { InvalidInput } from '../invalid-input.ts'
import { hash64 } from './key-hash.ts'
import { type Spelling, spellingOf } from './key-spelling.ts'

/** The longest key, in bytes of UTF-8: the size of the column that stores names. */
export const MAX_KEY_BYTES = 512

const encoder = new TextEncoder()
// A byte order mark at the beginning is a part of the key.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Where the rows of a counter are. */
export interface CounterPlace {
  recordType: number
  recordId: bigint
}

/** The address of a counter in the database, and the name to store for it. */
export interface CounterAddress extends CounterPlace {
  /** The key, in the spelling that is counted. */
  name: string
  /** What `counterId` returns, if it is kept. */
  readonly id?: string
}

/** The part of a counter type that determines the addresses of its counters. */
export interface KeyedType {
  /** The small integer stored with every row of this type. */
  recordType: number
  /** `integer`: keys must be decimal numbers. */
  key: 'string' | 'integer'
  /** Spellings that mean the same key. Default: none. */
  sameKey?: readonly Spelling[]
}

/**
 * The address of the counter that has a key.
 *
 * @throws {InvalidInput} of field `key`, for a key that the type does not accept
 */
export async function addressOfKey(type: KeyedType, spelled: string): Promise<CounterAddress> {
  const key = type.sameKey === undefined ? spelled : spellingOf(spelled, type.sameKey)
  if (key === '') throw invalidKey('must not be empty')
  // One spelling for each number. Otherwise "007" and "7" would be two counters.
  if (type.key === 'integer' && !/^(?:0|-?[1-9]\d{0,18})$/.test(key)) {
    throw invalidKey('must be a whole number of at most 19 digits, without leading zeros')
  }
  // A UTF-16 code unit takes at most 3 bytes, so short keys need not be encoded to measure them.
  if (key.length > MAX_KEY_BYTES / 3) {
    const bytes = encoder.encode(key).length
    if (bytes > MAX_KEY_BYTES) throw invalidKey(`must have at most ${MAX_KEY_BYTES} bytes of UTF-8, not ${bytes}`)
  }
  if (key.includes('\0')) throw invalidKey('must not contain NUL')
  if (!key.isWellFormed()) throw invalidKey('must be well-formed Unicode, without lone surrogates')
  return { recordType: type.recordType, recordId: await hash64(key), name: copied(key) }
}

/** A copy of a text that is kept. It may be a part of a long URL, all of which the engine would keep in memory with it. */
export function copied(text: string): string {
  return decoder.decode(encoder.encode(text))
}

const invalidKey = (message: string) => new InvalidInput('key', message)

/** A string that identifies a counter, as a key for maps and sets. */
export function counterId(counter: CounterPlace & { id?: string }): string {
  return counter.id ?? `${counter.recordType}/${counter.recordId}`
}

/** Each of some counters once. */
export function distinct<Counter extends CounterPlace>(counters: readonly Counter[]): Counter[] {
  return [...new Map(counters.map((counter) => [counterId(counter), counter])).values()]
}

/**
 * Compares addresses in primary key order. Every statement lists its rows in this order, so that no two statements lock them
 * in opposite orders. Addresses without a slot are compared by counter.
 */
export function byPrimaryKey(a: CounterPlace & { slot?: bigint }, b: CounterPlace & { slot?: bigint }): number {
  if (a.recordType !== b.recordType) return a.recordType - b.recordType
  if (a.recordId !== b.recordId) return a.recordId < b.recordId ? -1 : 1
  const [slotA, slotB] = [a.slot ?? 0n, b.slot ?? 0n]
  return slotA < slotB ? -1 : slotA > slotB ? 1 : 0
}
