import type { Increment } from '../../src/counters/batch.ts'
import { byPrimaryKey, type Counter } from '../../src/counters/counter.ts'
import { prune } from '../../src/counters/prune.ts'
import { random64 } from '../../src/counters/random.ts'
import { rollUp } from '../../src/counters/rollup.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import type { TestDatabase } from './database.ts'
import { TestIsolate } from './isolate.ts'
import { Ledger } from './ledger.ts'
import { seeded } from './random.ts'
import { WatchedNetwork } from './row-locks.ts'

const COUNTERS = 150
/** Idempotency keys that come again and again, from several isolates at once. */
const KEYS = 400

/** How wild it gets. */
export interface StormOptions {
  seed: number
  isolates: number
  /** Requests that each isolate gets, one after another. */
  requests: number
  rollUps: number
  prunings: number
  readers: number
  /**
   * Whether slots are deleted as soon as they are empty, from under those who write them. Then no idempotency key may come
   * twice, because nobody would recognise it.
   */
  pruneAtOnce: boolean
}

/** Everything that the product does to its tables at once, with a ledger beside it. */
export class Storm {
  readonly ledger: Ledger
  readonly network = new WatchedNetwork()
  readonly done = { requests: 0, isolates: 0, rollUps: 0, slotsMoved: 0, overtaken: 0, pruned: 0 }
  readonly #db: TestDatabase
  readonly #options: StormOptions
  readonly #below: (bound: number) => number
  readonly #keys = new Set<bigint>()
  #writing = true

  constructor(db: TestDatabase, options: StormOptions) {
    this.#db = db
    this.#options = options
    this.#below = seeded(options.seed)
    const counters = Array.from({ length: COUNTERS }, (_, i): Counter => {
      return { recordType: 1, recordId: BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n), name: `/counter/${i}` }
    })
    this.ledger = new Ledger(counters)
  }

  /** What is to be known of one that failed. */
  get description(): string {
    return JSON.stringify({ options: this.#options, ...this.done, readings: this.ledger.checked })
  }

  /** Runs until everything was written; whatever fails, nothing is left running. */
  async run(): Promise<void> {
    const { isolates, rollUps, prunings, readers } = this.#options
    const writing = Promise.all(times(isolates, () => this.#write())).finally(() => {
      this.#writing = false
    })
    const all = [
      writing,
      ...times(rollUps, () => this.#untilWritten(() => this.#rollUp())),
      ...times(prunings, () => this.#untilWritten(() => this.#prune())),
      ...times(readers, () => this.#untilWritten(() => this.ledger.checkReading(this.#db))),
    ]
    await Promise.allSettled(all)
    await Promise.all(all).catch((error: unknown) => {
      throw new Error(this.description, { cause: error })
    })
  }

  /** Every isolate has connections, slots and remembered names of its own. */
  #open(): Database {
    return openDatabase({ url: this.#db.url, deadlineMs: 30_000, fetch: this.network.fetch })
  }

  async #untilWritten(work: () => Promise<unknown>): Promise<void> {
    while (this.#writing) await work()
  }

  async #write(): Promise<void> {
    let isolate: TestIsolate | null = null
    for (let i = 0; i < this.#options.requests; i++) {
      if (isolate === null || this.#below(20) === 0) {
        await isolate?.settle()
        isolate = new TestIsolate(this.#open())
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
    if (this.#options.pruneAtOnce) return this.#count(isolate, this.#increments(), random64())
    // What is counted follows from the key: one request is one key's.
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

  /** One request's: mostly few, sometimes many. */
  #increments(): { index: number; by: bigint }[] {
    return times(1 + this.#below(this.#below(4) ? 3 : 60), () => ({
      index: this.#index(),
      by: BigInt(this.#below(9) - 2) || 1n,
    }))
  }

  /** Half of everything goes to two counters. */
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
      // Old slots, where increments with keys are going.
      const rows = times(50, () => {
        return { ...this.ledger.counters[this.#index()]!, slot: BigInt(1 + this.#below(KEYS)) }
      })
      await this.#db.execute(
        `INSERT IGNORE INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour)
         VALUES ${rows
           .sort(byPrimaryKey)
           .map(({ recordType, recordId, slot }) => `(${recordType},${recordId},${slot},0,0,1)`)
           .join(',')}`,
      )
    }
    const { deleted } = await prune(this.#open(), {
      // By hours: below 0, this hour's are old too.
      idempotencyHours: pruneAtOnce ? -1 : 24,
      pageSlots: 1 + this.#below(200),
      maxStatements: 20,
    })
    this.done.pruned += deleted
  }
}

function times<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index))
}
