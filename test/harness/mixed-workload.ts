import { random63 } from '../../src/counters/ids.ts'
import { byPrimaryKey, type CounterAddress } from '../../src/counters/keys/counter-address.ts'
import { prune } from '../../src/counters/old-rows.ts'
import { rowsByRange } from '../../src/counters/ranges.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import type { Increment } from '../../src/counters/write/increment-group.ts'
import type { Database } from '../../src/database/database.ts'
import { beside } from './beside.ts'
import type { TestDatabase } from './database.ts'
import { NOT_KEPT, TestIsolate } from './isolate.ts'
import { Ledger } from './ledger.ts'
import { Random } from './random.ts'
import { WatchedNetwork } from './row-locks.ts'

const COUNTERS = 150
/** Number of idempotency keys. Several isolates send each of them, many times. */
const KEYS = 400

/** How much goes on at once. */
export interface MixedWorkloadOptions {
  seed: number
  isolates: number
  /** Requests of each isolate, one after another. */
  requests: number
  rollUps: number
  prunings: number
  readers: number
  /**
   * Whether slots are deleted as soon as they are empty, while isolates write to them. No idempotency key may then be sent
   * twice, because its slot might be gone.
   */
  pruneAtOnce: boolean
}

/** Everything that the product does to its tables, all at once. Keeps a ledger of what the counters must be. */
export class MixedWorkload {
  readonly ledger: Ledger
  readonly network = new WatchedNetwork()
  readonly done = { requests: 0, isolates: 0, rollUps: 0, slotsMoved: 0, overtaken: 0, pruned: 0 }
  readonly #db: TestDatabase
  readonly #options: MixedWorkloadOptions
  readonly #below: (bound: number) => number
  readonly #keys = new Set<bigint>()

  constructor(db: TestDatabase, options: MixedWorkloadOptions) {
    this.#db = db
    this.#options = options
    const random = new Random(options.seed)
    this.#below = (bound) => random.between(0, bound - 1)
    const counters = Array.from({ length: COUNTERS }, (_, i): CounterAddress => {
      return { recordType: 1, recordId: BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n), name: `/counter/${i}` }
    })
    this.ledger = new Ledger(counters)
  }

  /** What one must know about a run that failed. */
  get description(): string {
    return JSON.stringify({ options: this.#options, ...this.done, readings: this.ledger.checked })
  }

  /** Runs until everything is written. Nothing keeps running, even if something fails. May be called again afterwards. */
  async run(): Promise<void> {
    const { isolates, rollUps, prunings, readers } = this.#options
    const writing = Promise.all(times(isolates, () => this.#write()))
    await beside<unknown>(
      writing,
      ...times(rollUps, () => () => this.#rollUp()),
      ...times(prunings, () => () => this.#prune()),
      ...times(readers, () => () => this.ledger.checkReading(this.#db)),
    ).catch(async (error: unknown) => {
      await Promise.allSettled([writing])
      throw new Error(this.description, { cause: error })
    })
  }

  /** Opens a connection for one isolate. */
  #open(): Database {
    return this.#db.open({ deadlineMs: 30_000, fetch: this.network.fetch })
  }

  async #write(): Promise<void> {
    let isolate: TestIsolate | null = null
    for (let i = 0; i < this.#options.requests; i++) {
      if (isolate === null || this.#below(20) === 0) {
        await isolate?.settle()
        isolate = new TestIsolate(this.#open(), this.#options.pruneAtOnce ? { idempotencyHours: NOT_KEPT } : {})
        this.done.isolates++
      }
      await (this.#below(5) === 0 ? this.#countKeyed(isolate) : this.#count(isolate, this.#increments()))
      this.done.requests++
    }
    await isolate?.settle()
  }

  async #count(isolate: TestIsolate, indexes: readonly { index: number; by: bigint }[], key?: bigint): Promise<void> {
    const increments = indexes.map(({ index, by }): Increment => ({ counter: this.ledger.counters[index]!, by }))
    for (const { index, by } of indexes) this.ledger.begin(index, by)
    await isolate.count(increments, key)
    for (const { index, by } of indexes) this.ledger.acknowledge(index, by)
  }

  async #countKeyed(isolate: TestIsolate): Promise<void> {
    if (this.#options.pruneAtOnce) return this.#count(isolate, this.#increments(), random63())
    // The increments follow from the key, because a key belongs to one request.
    const key = BigInt(1 + this.#below(KEYS))
    const increments = times(COUNTERS / 10, (i) => ({ index: i * 10 + (Number(key) % 10), by: 1n }))
    if (!this.#keys.has(key)) {
      this.#keys.add(key)
      return this.#count(isolate, increments, key)
    }
    await isolate.count(
      increments.map(({ index, by }) => ({ counter: this.ledger.counters[index]!, by })),
      key,
    )
  }

  /** The increments of a request: mostly few, sometimes many. */
  #increments(): { index: number; by: bigint }[] {
    return times(1 + this.#below(this.#below(4) ? 3 : 60), () => ({
      index: this.#index(),
      by: BigInt(this.#below(9) - 2) || 1n,
    }))
  }

  /** A counter's index. Half of all increments go to two counters. */
  #index(): number {
    return this.#below(this.#below(2) ? 2 : COUNTERS)
  }

  async #rollUp(): Promise<void> {
    const { slots, overtaken } = await rollUp(this.#open(), {
      pageSlots: 1 + this.#below(this.#below(2) ? 20 : 500),
      maxStatements: 60,
      maxSeconds: 60,
      at: new Date(),
      lease: this.#below(2) === 0,
    })
    this.done.rollUps++
    this.done.slotsMoved += slots
    this.done.overtaken += overtaken
  }

  async #prune(): Promise<void> {
    const { pruneAtOnce } = this.#options
    if (!pruneAtOnce) {
      // Old slots, to which increments with keys will go.
      const rows = times(50, () => {
        return { ...this.ledger.counters[this.#index()]!, slot: BigInt(1 + this.#below(KEYS)) }
      })
      // One range after the other: two statements over both shards may each wait for the other one's rows, which no server sees.
      for (const part of rowsByRange(rows.sort(byPrimaryKey), this.#db.ranges).values()) {
        const values = part.map(({ recordType, recordId, slot }) => `(${recordType},${recordId},${slot},0,0,1)`)
        await this.#db.execute(
          `INSERT IGNORE INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until) VALUES ${values.join(',')}`,
        )
      }
    }
    const { deleted } = await prune(this.#open(), {
      pageSlots: 1 + this.#below(200),
      maxStatements: 20,
    })
    this.done.pruned += deleted
  }
}

function times<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index))
}
