import { BoundedMap } from '../../bounded-map.ts'
import { addressOfKey, type CounterAddress, copied, counterId, type KeyedType } from './counter-address.ts'

/** Addresses in one generation of the cache; it holds two generations. */
const MAX_GENERATION = 10_000
/** Longer keys are hashed each time, so that the cache takes up a few megabytes at most. */
const MAX_KEY_LENGTH = 200

/** An address that keeps its id, because writing a large number as text takes long. A spread copy does not have the id. */
class CachedAddress implements CounterAddress {
  readonly recordType: number
  readonly recordId: bigint
  readonly name: string
  readonly #id: string

  constructor(address: CounterAddress) {
    this.recordType = address.recordType
    this.recordId = address.recordId
    this.name = address.name
    this.#id = counterId(address)
  }

  get id(): string {
    return this.#id
  }
}

/**
 * Caches the addresses of keys, because hashing a key takes longer than everything else that is done for a hit. Plain data,
 * bounded, shared by an isolate's requests.
 */
export class AddressCache {
  readonly #addresses = new BoundedMap<CounterAddress>(MAX_GENERATION)

  /** The address of a key, if it is cached. */
  cached(type: KeyedType, key: string): CounterAddress | undefined {
    return this.#addresses.get(`${type.recordType} ${key}`)
  }

  /**
   * The address of a key.
   *
   * @throws {InvalidInput} for a key that its type does not accept
   */
  async find(type: KeyedType, key: string): Promise<CounterAddress> {
    const known = this.cached(type, key)
    if (known !== undefined) return known
    const address = new CachedAddress(await addressOfKey(type, key))
    if (key.length <= MAX_KEY_LENGTH) this.#addresses.set(`${type.recordType} ${copied(key)}`, address)
    return address
  }
}
