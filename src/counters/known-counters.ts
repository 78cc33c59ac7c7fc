import { type Counter, counterOf, type KeyedType } from './counter.ts'
import { Generations } from './generations.ts'

/** Counters in one generation; two of them are remembered. */
const MAX_GENERATION = 10_000
/** Longer keys are hashed anew each time, so that what is remembered stays within a few megabytes whatever is sent. */
const MAX_KEY_LENGTH = 200

/**
 * Remembers which counters keys stand for, because hashing one takes longer than everything else that is done for a hit.
 * Plain data, bounded, shared by an isolate's requests.
 */
export class KnownCounters {
  readonly #counters = new Generations<Counter>(MAX_GENERATION)

  /** The counter that a key stands for, if it is remembered. */
  recall(type: KeyedType, key: string): Counter | undefined {
    return this.#counters.get(`${type.recordType} ${key}`)
  }

  /**
   * Finds the counter that a key stands for.
   *
   * @throws {InvalidKey}
   */
  async of(type: KeyedType, key: string): Promise<Counter> {
    const known = this.recall(type, key)
    if (known !== undefined) return known
    const counter = await counterOf(type, key)
    if (key.length <= MAX_KEY_LENGTH) this.#counters.set(`${type.recordType} ${key}`, counter)
    return counter
  }
}
