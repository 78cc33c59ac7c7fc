import type { CounterType } from '../config/counter-types.ts'
import { ConfigurationError } from '../config/read-settings.ts'
import type { CounterAddress } from '../counters/counter-address.ts'
import { hash63, hash64 } from '../counters/ids.ts'
import type { AddressCache } from '../counters/keys/key-address.ts'
import type { Isolate } from '../isolate.ts'
import { type FieldError, InvalidInput } from '../schemas.ts'
import { invalidRequest } from './problem.ts'

/** The type with a name. @throws {ConfigurationError} if it has a mistake in the settings */
export function configuredType({ config }: Pick<Isolate, 'config'>, name: string): CounterType | undefined {
  const mistakes = config.stopped.get(name)
  if (mistakes !== undefined) throw new ConfigurationError(mistakes)
  return config.types.get(name)
}

/** The same for types that a body or a call names. @throws {InvalidInput} of field `type` */
export function typeNamed(isolate: Isolate, name: string): CounterType {
  const type = configuredType(isolate, name)
  if (type === undefined) throw new InvalidInput('type', 'is not a configured counter type')
  return type
}

/** Why nothing is added to the counters of a type; `null`: it counts. */
export function countingError(type: CounterType | undefined): FieldError | null {
  if (!type?.readings) return null
  return { field: 'type', message: 'accepts readings only: send them to POST /v1/readings' }
}

/** The counter of a key. @param field the name of the key in the request @throws {InvalidInput} */
export async function counterOfKey(addresses: AddressCache, type: CounterType, key: string, field = 'key') {
  try {
    return await addresses.find(type, key)
  } catch (error) {
    throw error instanceof InvalidInput ? new InvalidInput(field, error.message) : error
  }
}

/** The counters of a list of keys. @throws {InvalidInput} of field `key.…` */
export async function countersOfKeys({ addresses }: Isolate, type: CounterType, keys: readonly string[]) {
  return Promise.all(keys.map((key, index) => counterOfKey(addresses, type, key, `key.${index}`)))
}

/**
 * The entries of a list in a body with their counters. @throws {Problem} 422 with all errors of the list
 * @param check finds another error in an entry, whose type is `undefined` if it is not configured
 */
export async function listedCounters<Entry extends { type: string; key: string }>(
  isolate: Isolate,
  list: string,
  entries: readonly Entry[],
  check: (type: CounterType | undefined, entry: Entry) => FieldError | null = () => null,
): Promise<(Entry & { counter: CounterAddress })[]> {
  const errors: FieldError[] = []
  const found: (Entry & { counter: CounterAddress })[] = []
  for (const [index, entry] of entries.entries()) {
    const isWrong = ({ field, message }: FieldError) => errors.push({ field: `${list}.${index}.${field}`, message })
    const wrong = check(isolate.config.types.get(entry.type), entry)
    if (wrong !== null) isWrong(wrong)
    try {
      const counter = await counterOfKey(isolate.addresses, typeNamed(isolate, entry.type), entry.key)
      found.push({ ...entry, counter })
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      isWrong(error)
    }
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return found
}

/** The prefix of a caller without a token: the type must list it. @throws {InvalidInput} of field `prefix` */
export function listedPrefix(type: CounterType, asked: string | undefined): string | null {
  const prefix = spelledPrefix(type, asked)
  if (prefix === null || type.prefixes.includes(prefix)) return prefix
  throw new InvalidInput('prefix', `is not public: send a token, or add it to prefixes in [vars.COUNTERS.${type.name}]`)
}

/** A prefix in the spelling that is counted; `null` if it is empty. */
export function spelledPrefix({ sameKey }: CounterType, asked: string | undefined): string | null {
  // The beacon sends an empty one for data-total without a value.
  if (asked === undefined || asked === '') return null
  // The other spellings do not concern the beginning of a key.
  return sameKey?.includes('letter_case') ? asked.toLowerCase() : asked
}

/** The maximum length of an `Idempotency-Key`, in characters. */
export const MAX_IDEMPOTENCY_KEY = 255

export type KeyPurpose = 'count' | 'set' | 'import' | 'move'

/** @throws {Problem} 422 */
export async function hashOfKey(key: string, purpose: KeyPurpose): Promise<bigint> {
  if (typeof key !== 'string' || key === '' || key.length > MAX_IDEMPOTENCY_KEY) {
    throw invalidRequest([{ field: 'Idempotency-Key', message: `must have 1 to ${MAX_IDEMPOTENCY_KEY} characters` }])
  }
  // Separate namespaces: the same key may be used once for each purpose.
  return purpose === 'count' ? hash63(`idempotency-key ${key}`) : hash64(`${purpose} idempotency-key ${key}`)
}
