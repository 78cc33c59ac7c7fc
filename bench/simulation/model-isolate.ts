import { BoundedMap } from '../../src/bounded-map.ts'
import { type CounterAddress, counterId } from '../../src/counters/counter-address.ts'
import { findNames, storeNames } from '../../src/counters/keys/names.ts'
import { SharedReads } from '../../src/counters/shared-reads.ts'
import { CommitByRange } from '../../src/counters/write/group-commit.ts'
import type { Executor } from '../../src/database/database.ts'
import { CircuitBreaker, withBreaker } from '../../src/database/retry-and-breaker.ts'
import type { Keys } from './keys.ts'
import { type ModelConnection, modelDatabase } from './model-database.ts'
import type { Random } from './random.ts'

const DEADLINE_MS = 3_000
/** Names that an isolate remembers at most, as `Keys` does. Three times as many hits bring up more of them. */
const REMEMBERED = 20_000
/** Milliseconds after which a name is asked for again. */
const BELIEVED_MS = 600_000
/** The most names that one statement asks for. */
const MAX_NAMES = 1_000

/**
 * What an isolate counts with, put together as in src/isolate.ts: the product's own code, on a model of the database. Requests are
 * calls of `count`. They never hang up, and isolates end only between requests.
 */
export class ModelIsolate {
  readonly #counting: CommitByRange
  readonly #names: SharedReads<boolean>
  /** When each name was last found. */
  readonly #known = new BoundedMap<number>(REMEMBERED / 2)
  /** Hits by slot. */
  readonly hitsOfSlots = new Map<string, number>()

  /**
   * @param ageMs for how long it has been counting. It knows the names, and the database has the slots, of keys that it has counted
   * @param hitsPerSecond of this isolate
   */
  constructor(connection: ModelConnection, keys: Keys, random: Random, ageMs: number, hitsPerSecond: number) {
    const { clock, ranges } = connection
    const hits = (ageMs / 1_000) * hitsPerSecond
    const seen = (share: number) => random.fraction() < -Math.expm1(-hits * share)
    const database = modelDatabase({
      ...connection,
      // Slots are few, so each has seen most keys that the isolate has.
      existed: (id) => hits > 0 && seen(keys.share(keys.rankOf(id))),
      onHits: (slot, hits) => this.hitsOfSlots.set(slot, (this.hitsOfSlots.get(slot) ?? 0) + hits),
    })
    const recent = Math.min(hits, (BELIEVED_MS / 1_000) * hitsPerSecond)
    const remembered = Math.min(Math.floor(recent), 3 * REMEMBERED)
    const now = Math.floor(clock.now)
    for (let n = remembered; n > 0; n--) {
      const id = counterId(keys.address(keys.draw(random)))
      if (this.#known.get(id) === undefined) this.#known.set(id, now - (n / Math.max(hitsPerSecond, 1e-9)) * 1_000)
    }
    const dbs = Array.from({ length: ranges }, () => withBreaker(database, new CircuitBreaker()))
    const read = async (db: Executor, counters: readonly CounterAddress[]) => {
      await storeNames(db, counters, await findNames(db, counters))
      return counters.map(() => true)
    }
    this.#names = new SharedReads(dbs, { deadlineMs: DEADLINE_MS, maxCounters: MAX_NAMES, read })
    const options = { deadlineMs: DEADLINE_MS, classicSlots: new Map(), idempotencyHours: 24, queue: null }
    this.#counting = new CommitByRange(dbs, options)
  }

  /** Counts a hit. Resolves when it is answered. */
  async count(counter: CounterAddress): Promise<void> {
    const id = counterId(counter)
    const now = Date.now()
    if (now - (this.#known.get(id) ?? Number.NEGATIVE_INFINITY) >= BELIEVED_MS) {
      await this.#names.read([counter], () => {})
      this.#known.set(id, now)
    }
    await this.#counting.count([{ counter, by: 1n }], { waitUntil: () => {}, answerReady: true })
  }
}
