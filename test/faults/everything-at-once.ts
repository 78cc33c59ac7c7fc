import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ChangeRefused } from '../../src/counters/changes/change.ts'
import { importCounts } from '../../src/counters/changes/import-counts.ts'
import { moveCounter } from '../../src/counters/changes/move-counter.ts'
import { setCounter } from '../../src/counters/changes/set-counter.ts'
import { expireHours } from '../../src/counters/history/expire-hours.ts'
import { hash63, random63 } from '../../src/counters/ids.ts'
import type { CounterAddress } from '../../src/counters/keys/counter-address.ts'
import { pruneNames } from '../../src/counters/keys/names.ts'
import { Overtaken } from '../../src/counters/ledger/totals.ts'
import { countIn, readCounters } from '../../src/counters/read/read-counters.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import { Overloaded } from '../../src/counters/shared-work-state.ts'
import { keptHours } from '../../src/counters/write/kept-hours.ts'
import { batchQueue, consume } from '../../src/counters/write/queue.ts'
import { openDatabase } from '../../src/database/database.ts'
import { DatabaseFailure } from '../../src/database/errors.ts'
import { withRetries } from '../../src/database/retry-and-breaker.ts'
import { BatchesQueue, TestDelivery } from '../harness/fake-queues.ts'
import { TestIsolate } from '../harness/isolate.ts'
import type { Random } from '../harness/random.ts'
import { verifyAll } from '../harness/verify-all.ts'
import type { Fate } from './client.ts'
import { ExpectedCounts, isAcknowledged } from './expected-counts.ts'
import { type FaultyDatabase, freshDatabase, rollUpAll } from './faulty-database.ts'
import { type Counter, type Increment, recordOf } from './increment.ts'
import { keyOfEachRange } from './key-of-each-range.ts'
import { LossyNetwork } from './lossy-network.ts'
import { Pruner } from './pruner.ts'
import { seededRandom } from './seeded-random.ts'
import { quiet } from './server-connections.ts'
import { checkRolledUp } from './stored-counts.ts'

const LOAD_MS = 20_000
/** How often each kind of thing must have happened, however slow the machine is. */
const LEAST = 3
/** Milliseconds after which the server ends a transaction; more if the statements of a change would take longer. */
const TRANSACTION_MS = 1_500
const STATEMENTS_OF_A_CHANGE = 20
/** Counters that are renamed and merged into each other. */
const POOLED = 4
const HOUR_DAYS = 3
const DAY_MS = 86_400_000

/** Does everything at once for 20 s, in a new database, and checks every ledger and every sum. */
export async function doEverythingAtOnce(): Promise<void> {
  const everything = new Everything(await freshDatabase(), seededRandom(), await makePools())
  await everything.run()
  await everything.check()
}

/** Counters of each range that are renamed and merged into each other. Only those of downloads are imported to. */
async function makePools(): Promise<Counter[][]> {
  const pools = { page_view: '/hot/', download: '/own/a' } as const
  const ofTypes = Object.entries(pools).map(async ([type, prefix]) => {
    const keys = await Promise.all(Array.from({ length: POOLED }, (_, i) => keyOfEachRange(`${prefix}${i}/`)))
    return keys[0]!.map((_, range) => keys.map((each) => ({ type: type as keyof typeof pools, key: each[range]! })))
  })
  return (await Promise.all(ofTypes)).flat()
}

/** Everything that the product does to its tables, and the ledger of what the counters must be. */
class Everything {
  readonly #db: FaultyDatabase
  readonly #random: Random
  readonly #pools: readonly (readonly Counter[])[]
  readonly #network: LossyNetwork
  readonly #lossy: FaultyDatabase
  readonly #ledger: { db: FaultyDatabase; cache: null }
  readonly #expected = new ExpectedCounts()
  readonly #pruner = new Pruner()
  readonly #queue = new BatchesQueue()
  #waiting: TestDelivery[] = []
  /** Those with a queue come first. */
  readonly #isolates: TestIsolate[]
  readonly #ended: Promise<void>[] = []
  #endsAt = 0
  #failed = false
  readonly #done = {
    keyed: 0,
    unkeyed: 0,
    delivered: 0,
    rollUps: 0,
    moves: 0,
    imports: 0,
    deletions: 0,
    settings: 0,
    expired: 0,
    reads: 0,
    verified: 0,
  }

  constructor(db: FaultyDatabase, random: Random, pools: readonly (readonly Counter[])[]) {
    this.#db = db
    this.#random = random
    this.#pools = pools
    for (const pool of pools) this.#expected.addUp(pool)
    this.#network = new LossyNetwork(random)
    const { fetch } = this.#network
    this.#lossy = { ...db, ...openDatabase({ url: db.url, ranges: db.ranges, deadlineMs: 30_000, fetch }) }
    this.#ledger = { db: this.#lossy, cache: null }
    this.#isolates = [0, 1, 2, 3].map((place) => this.#open(place))
  }

  /** Runs until the time is over and each kind of thing has happened often enough. */
  async run(): Promise<void> {
    this.#endsAt = Date.now() + LOAD_MS
    const tasks: [number, () => Promise<unknown>][] = [
      [3, () => this.#countKeyed()],
      [3, () => this.#count()],
      [2, () => this.#rollUp()],
      [2, () => this.#move()],
      [1, () => this.#import()],
      [5, () => this.#replace()],
      [2, () => this.#deliver()],
      [1, () => this.#expire()],
      [1, () => this.#restart()],
      [1, () => this.#limit()],
      [1, () => this.#read()],
      [1, () => this.#verify()],
    ]
    const all = tasks.flatMap(([times, task]) => Array.from({ length: times }, () => this.#untilOver(task)))
    await Promise.allSettled(all)
    console.log(
      JSON.stringify({
        ms: Date.now() - this.#endsAt + LOAD_MS,
        ...this.#done,
        ...this.#expected.number,
        ...this.#network.number,
        pruned: this.#pruner.deleted,
        statementMs: this.#network.statementMs,
      }),
    )
    await Promise.all(all)
  }

  async #untilOver(task: () => Promise<unknown>): Promise<void> {
    try {
      while (!this.#isOver()) {
        await task()
        await this.#moment(50)
      }
    } catch (error) {
      this.#failed = true
      throw error
    } finally {
      this.#network.heal()
    }
  }

  #isOver(): boolean {
    if (this.#failed) return true
    return Date.now() > this.#endsAt && Object.values(this.#done).every((times) => times >= LEAST)
  }

  /** Waits until nothing is in flight. Then checks all counters, rolls them up, and checks them again. */
  async check(): Promise<void> {
    await Promise.all([...this.#ended, ...this.#isolates.map((isolate) => isolate.settle())])
    while (this.#queue.bodies.length + this.#waiting.length > 0) await this.#deliver()
    await this.#network.settle()
    await quiet(this.#db)
    await this.#db.behave()
    await this.#expected.check(this.#db)
    await rollUpAll(this.#db)
    await this.#expected.check(this.#db)
    await checkRolledUp(this.#db, HOUR_DAYS)
    await this.#checkNames()
  }

  /** Checks that what counts has a name, also once those of counters that are gone have been pruned. */
  async #checkNames(): Promise<void> {
    const { rows: gone } = await this.#db.execute('SELECT record_type, record_id FROM counters WHERE gone_hour > 0')
    expect(gone.length).toBeGreaterThan(0)
    for (const { record_type, record_id } of gone) {
      const place = [record_type, record_id]
      const sql = 'UPDATE counters SET gone_hour = gone_hour - 3 WHERE record_type = ? AND record_id = ?'
      await this.#db.execute(sql, place)
    }
    await pruneNames(this.#db)
    const { rows } = await this.#db.execute(
      `SELECT DISTINCT record_type, record_id FROM counter_periods LEFT JOIN counters AS c USING (record_type, record_id)
       WHERE name IS NULL OR gone_hour IS NOT NULL`,
    )
    expect(rows).toEqual([])
  }

  #open(place: number): TestIsolate {
    return new TestIsolate(this.#lossy, place < 2 ? { queue: batchQueue(this.#queue) } : {})
  }

  async #restart(): Promise<void> {
    const place = this.#random.between(0, 3)
    this.#ended.push(this.#isolates[place]!.settle())
    this.#isolates[place] = this.#open(place)
    await this.#moment(500)
  }

  async #limit(): Promise<void> {
    // An integer: vtgate takes no other.
    const ms = Math.ceil(2 * STATEMENTS_OF_A_CHANGE * this.#network.statementMs)
    await this.#db.behave({ transactionMs: Math.max(TRANSACTION_MS, ms) })
    await this.#moment(1_000)
  }

  /** Sends a request to any isolate. Those without a queue are the last two. */
  async #send(increments: readonly Increment[], key?: bigint, mayQueue = true): Promise<Fate> {
    const isolate = this.#isolates[this.#random.between(mayQueue ? 0 : 2, 3)]!
    const counted = await Promise.all(
      increments.map(async (increment) => ({ counter: await addressOf(increment), by: BigInt(increment.by) })),
    )
    try {
      return await isolate.count(counted, key)
    } catch (error) {
      if (error instanceof Overloaded) return 'refused'
      if (!passes(error)) throw error
      return error instanceof DatabaseFailure && error.applied === 'no' ? 'refused' : 'unknown'
    }
  }

  /** Counts with a key, and repeats it until it is acknowledged. */
  async #untilCounted(increments: readonly Increment[], key: bigint, mayQueue = true): Promise<Fate> {
    for (;;) {
      const fate = await this.#send(increments, key, mayQueue)
      if (isAcknowledged(fate)) return fate
      await this.#moment(50)
    }
  }

  async #countKeyed(): Promise<void> {
    const increments = [this.#ofPool(), this.#ofPool()]
    const key = randomUUID()
    const hash = await hash63(`idempotency-key ${key}`)
    const once = () => this.#untilCounted(increments, hash)
    const fates = await Promise.all(this.#random.chance(0.3) ? [once(), once()] : [once()])
    this.#expected.record(increments, fates[0]!)
    if (this.#random.chance(0.3)) await once()
    else if (fates.every((fate) => fate === 'counted')) {
      await this.#network.settle(`${hash}`)
      this.#pruner.finish(key, increments)
    }
    this.#done.keyed++
  }

  /** Counts without a key. A second counter tells what happened when the outcome is unknown. */
  async #count(): Promise<void> {
    const increments = [this.#ofPool(), { type: 'download' as const, key: `/own/b${randomUUID()}`, by: 1 }]
    this.#expected.record(increments, await this.#send(increments))
    this.#done.unkeyed++
  }

  #ofPool(pools = this.#pools): Increment {
    return { ...this.#random.pick(this.#random.pick(pools)), by: this.#random.between(1, 9) }
  }

  /**
   * Deletes or sets a counter, beside one increment, of which nobody knows whether it was before or after that. What was counted
   * before is gone, what is counted after stays, however often the change is asked for.
   */
  async #replace(): Promise<void> {
    const counter: Counter = { type: 'page_view', key: `/once/${randomUUID()}` }
    const count = async () => {
      const increment = { ...counter, by: this.#random.between(1, 9) }
      await this.#untilCounted([increment], random63(), false)
      return increment
    }
    const address = await addressOf(counter)
    for (let times = this.#random.between(1, 3); times > 0; times--) await count()
    if (this.#random.chance(0.3)) await this.#moment(1_000)
    const isDeletion = this.#random.chance(0.6)
    const to = isDeletion ? 0 : this.#random.between(-1_000, 1_000)
    const change = (key: bigint) =>
      isDeletion
        ? moveCounter(this.#ledger, address, { kind: 'delete', target: null, also: [], below: null, key })
        : setCounter(this.#ledger, address, { count: BigInt(to), id: key, at: new Date() })
    const keys = this.#random.chance(0.5) ? [random63()] : [random63(), random63()]
    const [beside, ...made] = await Promise.all([count(), ...keys.map((key) => this.#untilKnown(() => change(key)))])
    this.#expected.record([beside], 'unknown')
    this.#expected.record([{ ...counter, by: to }], 'counted')
    for (let times = this.#random.between(0, 2); times > 0; times--) this.#expected.record([await count()], 'counted')
    // Of two deletions, one may have been refused.
    for (const key of keys.filter((_, i) => made[i])) await this.#untilKnown(() => change(key))
    this.#done[isDeletion ? 'deletions' : 'settings']++
  }

  /** Renames or merges counters. Whatever comes of it, their sum stays the same. */
  async #move(): Promise<void> {
    const pool = this.#random.pick(this.#pools)
    const [source, target] = [await addressOf(this.#random.pick(pool)), await addressOf(this.#random.pick(pool))]
    if (source.recordId === target.recordId) return
    const kind = this.#random.pick(['rename', 'merge'] as const)
    const move = (key: bigint | null) => moveCounter(this.#ledger, source, { kind, target, also: [], below: null, key })
    if (this.#random.chance(0.3)) await this.#tolerant(move(null))
    else {
      const key = random63()
      await this.#untilKnown(() => move(key))
    }
    this.#done.moves++
  }

  async #import(): Promise<void> {
    const pools = this.#pools.filter(([counter]) => counter!.type === 'download')
    const increments = Array.from({ length: this.#random.between(1, 5) }, () => this.#ofPool(pools))
    const rows = await Promise.all(
      increments.map(async (increment) => {
        return { counter: await addressOf(increment), count: BigInt(increment.by), day: this.#day() }
      }),
    )
    const options = { id: random63(), at: new Date() }
    await this.#untilKnown(() => importCounts(this.#ledger, rows, options))
    this.#expected.record(increments, 'counted')
    this.#done.imports++
    await this.#moment(200)
  }

  #day(): Date | null {
    return this.#random.chance(0.3) ? null : new Date(Date.now() - this.#random.between(0, 60) * DAY_MS)
  }

  /** Rolls up, often as if some days ago. */
  async #rollUp(): Promise<void> {
    const at = new Date(Date.now() - this.#random.pick([0, 0, 0, 1, 2, 3, 4, 5, 6]) * DAY_MS)
    const pageSlots = this.#random.between(5, 300)
    const lease = this.#random.chance(0.3)
    await this.#tolerant(rollUp(this.#ledger, { at, pageSlots, maxStatements: 1_000, maxSeconds: 5, lease }))
    this.#done.rollUps++
    await this.#moment(200)
  }

  /** Deletes old hours, the slots of finished requests, and names. */
  async #expire(): Promise<void> {
    const options = { hourDays: HOUR_DAYS, pageHours: this.#random.between(5, 200), maxStatements: 100, at: new Date() }
    await this.#tolerant(expireHours(this.#lossy, { ...options, recordTypes: [1, 2] }))
    await this.#tolerant(pruneNames(withRetries(this.#lossy)))
    await this.#pruner.run(this.#lossy)
    this.#done.expired++
    await this.#moment(500)
  }

  /** Delivers some messages of the queue, in any order, some of them twice, possibly at the same time. */
  async #deliver(): Promise<void> {
    for (const body of this.#queue.bodies.splice(0))
      this.#waiting.push(new TestDelivery(body, { timestamp: new Date() }))
    const next = () => this.#waiting.splice(this.#random.between(0, this.#waiting.length - 1), 1)
    const some = Array.from({ length: Math.min(this.#waiting.length, this.#random.between(0, 5)) }, next).flat()
    this.#waiting.push(...some.filter(() => this.#random.chance(0.2)).map((delivery) => delivery.again()))
    const context = { db: this.#lossy, keptHours: keptHours(24), deadLetters: null }
    const { applied, dead } = await consume(context, some, new Date())
    expect(dead).toEqual([])
    const more = some.filter(({ fate }) => fate !== 'acknowledged' || this.#random.chance(0.3))
    this.#waiting.push(...more.map((delivery) => delivery.again()))
    this.#done.delivered += applied
  }

  /** Reads the counters of a pool at one instant. Their sum has all that was acknowledged, and never falls. None is below 0. */
  async #read(): Promise<void> {
    const pool = this.#random.pick(this.#pools)
    const addresses = await Promise.all(pool.map(addressOf))
    const acknowledged = this.#expected.acknowledged(pool[0]!.key)
    const counts = (await readCounters(this.#db, addresses)).map(countIn)
    const sum = counts.reduce((sum, count) => sum + count)
    if (sum < acknowledged || counts.some((count) => count < 0n)) {
      throw new Error(`read ${counts.join(' + ')} when ${acknowledged} had been acknowledged`)
    }
    this.#done.reads++
    await this.#moment(100)
  }

  async #verify(): Promise<void> {
    expect((await verifyAll(this.#db, { hourDays: HOUR_DAYS })).wrong).toEqual([])
    this.#done.verified++
    await this.#moment(2_000)
  }

  /**
   * Makes a change with a key until it is known what came of it. Some are made once more, which must change nothing.
   *
   * @returns whether it was made, not refused
   */
  async #untilKnown(change: () => Promise<unknown>): Promise<boolean> {
    for (;;) {
      try {
        await change()
        if (this.#random.chance(0.7)) return true
      } catch (error) {
        if (error instanceof ChangeRefused) return false
        if (!passes(error)) throw error
      }
      await this.#moment(100)
    }
  }

  async #tolerant(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!(error instanceof ChangeRefused) && !passes(error)) throw error
    })
  }

  #moment(mostMs: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#random.between(0, mostMs)))
  }
}

async function addressOf(counter: Counter): Promise<CounterAddress> {
  return { ...(await recordOf(counter)), name: counter.key }
}

/** Whether an error may be met on such a network, and does not come from a mistake of ours. */
function passes(error: unknown): boolean {
  if (error instanceof Overtaken) return true
  return error instanceof DatabaseFailure && ['unavailable', 'contention'].includes(error.kind)
}
