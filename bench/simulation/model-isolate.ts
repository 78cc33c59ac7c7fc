import type { CounterAddress } from '../../src/counters/keys/counter-address.ts'
import { StoredNames } from '../../src/counters/keys/names.ts'
import { CommitByRange } from '../../src/counters/write/commit-by-range.ts'
import { GroupCommit } from '../../src/counters/write/group-commit.ts'
import { SlotPool } from '../../src/counters/write/slot-pool.ts'
import { CircuitBreaker, withBreaker } from '../../src/database/circuit-breaker.ts'
import type { Keys } from './keys.ts'
import { type ModelConnection, modelDatabase } from './model-database.ts'
import type { Random } from './random.ts'

const DEADLINE_MS = 3_000
/** Names that an isolate remembers at most, for each range. Three times as many hits bring up more of them. */
const REMEMBERED = 20_000
/** Names are stored again after so many milliseconds. */
const BELIEVED_MS = 600_000

/**
 * What an isolate counts with, put together as in src/isolate.ts: the product's own code, on a model of the database. Requests are
 * calls of `count`. They never hang up, and isolates end only between requests.
 */
export class ModelIsolate {
  readonly #counting: CommitByRange
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
    const names = Array.from({ length: ranges }, () => new StoredNames())
    const recent = Math.min(hits, (BELIEVED_MS / 1_000) * hitsPerSecond)
    const remembered = Math.min(Math.floor(recent), 3 * REMEMBERED * ranges)
    const now = Math.floor(clock.now)
    for (let n = remembered; n > 0; n--) {
      const address = keys.address(keys.draw(random))
      const of = names[Number((address.recordId * BigInt(ranges)) >> 64n)]!
      const seenAt = now - (n / Math.max(hitsPerSecond, 1e-9)) * 1_000
      if (!of.has(address, seenAt)) of.add(address, seenAt)
    }
    this.#counting = new CommitByRange(
      names.map(
        (names) =>
          new GroupCommit({
            db: withBreaker(database, new CircuitBreaker()),
            deadlineMs: DEADLINE_MS,
            classicSlots: new Map(),
            slots: new SlotPool(),
            names,
            queue: null,
          }),
      ),
    )
  }

  /** Counts a hit. Resolves when it is answered. */
  async count(counter: CounterAddress): Promise<void> {
    await this.#counting.count([{ counter, by: 1n }], { waitUntil: () => {}, answerReady: true })
  }
}
