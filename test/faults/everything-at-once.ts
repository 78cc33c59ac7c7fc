import { randomUUID } from 'node:crypto'
import { expect, inject } from 'vitest'
import type { Behaviour, IsolationLevel } from '../../local/planetscale/fault-injection.ts'
import { ChangeRefused } from '../../src/counters/changes/change.ts'
import { importCounts } from '../../src/counters/changes/import-counts.ts'
import { moveCounter } from '../../src/counters/changes/move-counter.ts'
import { setCounts } from '../../src/counters/changes/set-counts.ts'
import { type CounterAddress, counterId } from '../../src/counters/counter-address.ts'
import { counterSql, placeOf } from '../../src/counters/counters-sql.ts'
import { hash63, random63 } from '../../src/counters/ids.ts'
import { ensureNames, pruneNames } from '../../src/counters/keys/names.ts'
import { Overtaken } from '../../src/counters/ledger/totals.ts'
import { expireHours } from '../../src/counters/old-rows.ts'
import { countIn, readCounters } from '../../src/counters/read/read-counters.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import { Overloaded } from '../../src/counters/shared-work-state.ts'
import { consume } from '../../src/counters/write/queue.ts'
import { openDatabase } from '../../src/database/database.ts'
import { DatabaseFailure } from '../../src/database/errors.ts'
import { withRetries } from '../../src/database/retry-and-breaker.ts'
import { BatchesQueue, TestDelivery } from '../harness/fake-queues.ts'
import { TestIsolate } from '../harness/isolate.ts'
import { keyOfEachRange } from '../harness/keys-of-ranges.ts'
import { setCounter } from '../harness/moves.ts'
import type { Random } from '../harness/random.ts'
import { verifyAll } from '../harness/verify-all.ts'
import type { Fate } from './client.ts'
import { Clock } from './clock.ts'
import { ExpectedCounts, isAcknowledged } from './expected-counts.ts'
import { type FaultyDatabase, freshDatabase, rollUpAll } from './faulty-database.ts'
import { type Counter, type Increment, RECORD_TYPES, recordOf } from './increment.ts'
import { LossyNetwork, REFUSED } from './lossy-network.ts'
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
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Isolates have so many ranges for each of the test database, as while the number is being raised. */
const RANGES = [1, 2, 4].map((factor) => factor * inject('ranges'))
const MOST_RANGES = Math.max(...RANGES)
const ALSO = new Map([[RECORD_TYPES.view, [{ recordType: RECORD_TYPES.visit, visitorsOf: 'page' as const }]]])
const VISITORS = 20
/** Slots of finished requests may be pruned after 4 s. This is longer, so that some are still pending then. */
const ROLL_UPS_REST_MS = 5_000

/** Does everything at once for 20 s, in a new database, and checks every ledger and every sum. */
export async function doEverythingAtOnce(isolation: IsolationLevel): Promise<void> {
  Clock.install()
  const everything = new Everything(await freshDatabase(), seededRandom(), await makePools())
  await everything.run(isolation)
  await everything.check()
}

/** Counters of each range that are renamed and merged into each other. Only those of downloads are imported to. */
async function makePools(): Promise<Counter[][]> {
  const pools = { page_view: '/hot/', download: '/own/a', view: '/both/a', visit: '/both/a' } as const
  const ofTypes = Object.entries(pools).map(async ([type, prefix]) => {
    const keys = await Promise.all(
      Array.from({ length: POOLED }, (_, i) => keyOfEachRange(`${prefix}${i}/`, MOST_RANGES)),
    )
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
  /** By way of the network, one for each of `RANGES`. */
  readonly #lossy: readonly FaultyDatabase[]
  readonly #expected = new ExpectedCounts(MOST_RANGES)
  /** What was counted, by `counterId`. */
  readonly #counters = new Map<string, Counter>()
  readonly #pruner = new Pruner()
  readonly #queue = new BatchesQueue()
  #waiting: TestDelivery[] = []
  /** Those with a queue come first. */
  readonly #isolates: TestIsolate[]
  readonly #clocks = [0, 1, 2, 3].map(() => new Clock())
  #behaviour: Partial<Behaviour> = { faults: REFUSED }
  #rollUpsRestUntil = 0
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
    readings: 0,
    visits: 0,
    expired: 0,
    aged: 0,
    jumps: 0,
    outages: 0,
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
    this.#lossy = RANGES.map((ranges) => ({
      ...db,
      ...openDatabase({ url: db.url, ranges, deadlineMs: 30_000, fetch }),
    }))
    this.#isolates = [0, 1, 2, 3].map((place) => this.#open(place))
  }

  /** Runs until the time is over and each kind of thing has happened often enough. */
  async run(isolation: IsolationLevel): Promise<void> {
    // At 10 minutes past an hour, so that an hour does not end by itself.
    const clockSeconds = 600 - (Math.floor(Date.now() / 1_000) % 3_600)
    await this.#behave({ isolation, clockSeconds })
    this.#endsAt = Date.now() + LOAD_MS
    const tasks: [number, () => Promise<unknown>][] = [
      [3, () => this.#countKeyed()],
      [3, () => this.#count()],
      [1, () => this.#visit()],
      [2, () => this.#rollUp()],
      [2, () => this.#move()],
      [2, () => this.#import()],
      [5, () => this.#replace()],
      [2, () => this.#takeReadings()],
      [2, () => this.#deliver()],
      [1, () => this.#expire()],
      [1, () => this.#restart()],
      [1, () => this.#limit()],
      [1, () => this.#age()],
      [1, () => this.#jump(clockSeconds)],
      [1, () => this.#outage()],
      [1, () => this.#restRollUps()],
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
        pruned_pending: this.#pruner.pending,
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

  async #behave(behaviour: Partial<Behaviour>): Promise<void> {
    this.#behaviour = { ...this.#behaviour, ...behaviour }
    await this.#db.behave(this.#behaviour)
  }

  /** A connection of any isolate. */
  get #any(): FaultyDatabase {
    return this.#random.pick(this.#lossy)
  }

  #isOver(): boolean {
    if (this.#failed) return true
    if (this.#pruner.pending === 0) return false
    return Date.now() > this.#endsAt && Object.values(this.#done).every((times) => times >= LEAST)
  }

  /** Waits until nothing is in flight. Then checks all counters, rolls them up, and checks them again. */
  async check(): Promise<void> {
    await Promise.all([...this.#ended, ...this.#isolates.map((isolate) => isolate.settle())])
    while (this.#queue.bodies.length + this.#waiting.length > 0) await this.#deliver()
    await this.#network.settle()
    await quiet(this.#db)
    await this.#behave({ transactionMs: 60_000, faults: [] })
    await this.#nameAgain()
    await this.#expected.check(this.#db)
    await rollUpAll(this.#db)
    await this.#expected.check(this.#db)
    await checkRolledUp(this.#db, HOUR_DAYS)
    await this.#checkNames()
  }

  /**
   * Counts in what has no name. A name can only go while something counts if it is deleted earlier than an hour after its counter
   * (`#age`): an isolate believes in it for ten minutes. Nothing may be lost then, and the next hit must mend it.
   */
  async #nameAgain(): Promise<void> {
    const { rows } = await this.#db.execute(
      `SELECT DISTINCT s.record_type, s.record_id FROM slotted_counters AS s LEFT JOIN counters AS c
       ON c.record_type = s.record_type AND c.record_id = s.record_id AND c.bucket = s.bucket
       WHERE s.pending = 1 AND c.name IS NULL`,
    )
    console.log(`${rows.length} had lost their names`)
    for (const { record_type, record_id } of rows) {
      const { type, key } = this.#counters.get(`${record_type}/${record_id}`)!
      // What is counted in pairs stays so, whichever of the two has lost its name.
      const types = key.startsWith('/once/') && type !== 'page_view' ? (['view', 'visit'] as const) : [type]
      const counters = types.map((type) => ({ type, key }))
      this.#expected.record(
        counters.map((counter) => ({ ...counter, by: 1 })),
        'counted',
      )
      const isolate = new TestIsolate(this.#db)
      await isolate.count(
        await Promise.all(counters.map(async (counter) => ({ counter: await addressOf(counter), by: 1n }))),
      )
      await isolate.settle()
    }
  }

  /** Checks that what counts has a name, also once those of counters that are gone have been pruned. */
  async #checkNames(): Promise<void> {
    // The names of all others may have been pruned.
    const last = await addressOf({ type: 'page_view', key: '/last-deleted' })
    await ensureNames(this.#db, [last])
    const deletion = { kind: 'delete', target: null, also: [], below: null, key: null } as const
    await moveCounter(this.#db, last, deletion)
    const { rows: gone } = await this.#db.execute('SELECT record_type, record_id FROM counters WHERE gone_hour > 0')
    expect(gone.length).toBeGreaterThan(0)
    for (const row of gone) await this.#makeOlder(row)
    await pruneNames(this.#db)
    const { rows } = await this.#db.execute(
      `SELECT DISTINCT s.record_type, s.record_id FROM counter_periods AS s LEFT JOIN counters AS c
       ON c.record_type = s.record_type AND c.record_id = s.record_id AND c.bucket = s.bucket
       WHERE c.name IS NULL OR c.gone_hour IS NOT NULL`,
    )
    expect(rows).toEqual([])
  }

  async #makeOlder(row: Record<string, unknown>): Promise<void> {
    await this.#db.execute(`UPDATE counters SET gone_hour = gone_hour - 3 WHERE ${counterSql(placeOf(row))}`)
  }

  #open(place: number): TestIsolate {
    return new TestIsolate(this.#any, place < 2 ? { queue: this.#queue } : {}, ALSO)
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
    await this.#behave({ transactionMs: Math.max(TRANSACTION_MS, ms) })
    await this.#moment(1_000)
  }

  /** Makes the clock of an isolate, or of the database, jump ahead by an hour, or back. */
  async #jump(clockSeconds: number): Promise<void> {
    await this.#moment(1_000)
    const ahead = this.#random.pick([0, HOUR_MS])
    if (this.#random.chance(0.3)) await this.#behave({ clockSeconds: clockSeconds + ahead / 1_000 })
    else this.#random.pick(this.#clocks).aheadMs = ahead
    this.#done.jumps++
  }

  async #outage(): Promise<void> {
    await this.#moment(4_000)
    for (let bursts = this.#random.between(1, 4); bursts > 0; bursts--) {
      this.#network.outage(this.#random.between(20, 400))
      await this.#moment(600)
    }
    this.#done.outages++
  }

  async #restRollUps(): Promise<void> {
    await this.#moment(10_000)
    this.#rollUpsRestUntil = performance.now() + ROLL_UPS_REST_MS
    await new Promise((resolve) => setTimeout(resolve, ROLL_UPS_REST_MS))
  }

  /**
   * Makes names of deleted counters old enough to be pruned, although isolates still believe in them. Not of those that are read
   * meanwhile: lists miss a counter whose name was pruned too early, until the next hit names it again.
   */
  async #age(): Promise<void> {
    const { rows: gone } = await this.#db.execute('SELECT record_type, record_id FROM counters WHERE gone_hour > 100')
    const read = new Set((await Promise.all(this.#readPools.flat().map(addressOf))).map(counterId))
    const rows = gone.filter(({ record_type, record_id }) => !read.has(`${record_type}/${record_id}`)).slice(0, 20)
    for (const row of rows) await this.#makeOlder(row)
    this.#done.aged += rows.length
    await this.#moment(1_000)
  }

  /** Sends a request to any isolate. Those without a queue are the last two. */
  async #send(increments: readonly Increment[], key?: bigint | readonly bigint[], mayQueue = true): Promise<Fate> {
    const place = this.#random.between(mayQueue ? 0 : 2, 3)
    const counted = await Promise.all(
      increments.map(async (increment, i) => {
        const counter = await addressOf(increment)
        this.#counters.set(counterId(counter), { type: increment.type, key: increment.key })
        return { counter, by: BigInt(increment.by), ...(typeof key === 'object' && { key: key[i]! }) }
      }),
    )
    try {
      return await this.#clocks[place]!.run(() => {
        const isolate = this.#isolates[place]!
        if (typeof key !== 'object') return isolate.count(counted, key)
        return isolate.visit(counted as unknown as Parameters<TestIsolate['visit']>[0])
      })
    } catch (error) {
      if (error instanceof Overloaded) return 'refused'
      if (!passes(error)) throw error
      return error instanceof DatabaseFailure && error.applied === 'no' ? 'refused' : 'unknown'
    }
  }

  /** Counts with a key, and repeats it until it is acknowledged. */
  async #untilCounted(
    increments: readonly Increment[],
    key: bigint | readonly bigint[],
    mayQueue = true,
  ): Promise<Fate> {
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

  /** Counts a view, and in the visits once for each visitor. */
  async #visit(): Promise<void> {
    const { key } = this.#ofPool(this.#poolsOf('view'))
    const visitor = this.#random.between(1, VISITORS)
    const keys = await Promise.all([`view ${randomUUID()}`, `visit ${visitor} ${key}`].map(hash63))
    const [view, visit] = (['view', 'visit'] as const).map((type) => ({ type, key, by: 1 }))
    const fate = await this.#untilCounted([view!, visit!], keys)
    this.#expected.record([view!], fate)
    this.#expected.recordVisit(`${visitor}`, visit!, fate)
    this.#done.visits++
  }

  /** Half of the ranges of each type. */
  get #readPools(): readonly (readonly Counter[])[] {
    return this.#pools.filter((_, place) => place % 2 === 0)
  }

  #poolsOf(type: Counter['type']): readonly (readonly Counter[])[] {
    return this.#pools.filter(([counter]) => counter!.type === type)
  }

  #ofPool(pools = this.#pools): Increment {
    return { ...this.#random.pick(this.#random.pick(pools)), by: this.#random.between(1, 9) }
  }

  /**
   * Deletes or sets a counter, beside one increment, of which nobody knows whether it was before or after that. What was counted
   * before is gone, what is counted after stays, however often the change is asked for. Some views are deleted with their visits,
   * of which there are as many.
   */
  async #replace(): Promise<void> {
    const withVisits = this.#random.chance(0.3)
    const key = `/once/${randomUUID()}`
    const count = async (): Promise<number> => {
      const by = this.#random.between(1, 9)
      await this.#untilCounted(
        (withVisits ? (['view', 'visit'] as const) : (['page_view'] as const)).map((type) => ({ type, key, by })),
        random63(),
        false,
      )
      return by
    }
    const record = (by: number, fate: Fate) => {
      if (withVisits) this.#expected.recordPair({ type: 'view', key, by }, { type: 'visit', key, by }, fate)
      else this.#expected.record([{ type: 'page_view', key, by }], fate)
    }
    const address = await addressOf({ type: withVisits ? 'view' : 'page_view', key })
    const also = withVisits ? [RECORD_TYPES.visit] : []
    for (let times = this.#random.between(1, 3); times > 0; times--) await count()
    if (this.#random.chance(0.3)) await this.#moment(1_000)
    const isDeletion = withVisits || this.#random.chance(0.5)
    const to = isDeletion ? 0 : this.#random.between(-1_000, 1_000)
    const change = (key: bigint) =>
      isDeletion
        ? moveCounter(this.#any, address, { kind: 'delete', target: null, also, below: null, key })
        : setCounter(this.#any, address, { count: BigInt(to), id: key, at: new Date() })
    const keys = this.#random.chance(0.5) ? [random63()] : [random63(), random63()]
    const [beside, ...made] = await Promise.all([count(), ...keys.map((key) => this.#untilKnown(() => change(key)))])
    record(beside, 'unknown')
    record(to, 'counted')
    for (let times = this.#random.between(0, 2); times > 0; times--) record(await count(), 'counted')
    // Of two deletions, one may have been refused.
    for (const key of keys.filter((_, i) => made[i])) await this.#untilKnown(() => change(key))
    this.#done[isDeletion ? 'deletions' : 'settings']++
  }

  /** Two synchronizations send readings of one counter in any order, some of them twice. The highest one stays, even if others come late. */
  async #takeReadings(): Promise<void> {
    const key = `/read/${randomUUID()}`
    const counter = await addressOf({ type: 'download', key })
    const highest = this.#random.between(1, 1_000)
    const take = async () => {
      const count = BigInt(this.#random.between(0, highest))
      await this.#untilKnown(() =>
        setCounts(this.#any, [{ counter, count, as: 'reading' }], { key: null, at: new Date() }),
      )
    }
    await Promise.all([take(), take()])
    const last = { counter, count: BigInt(highest), as: 'reading' } as const
    await this.#untilKnown(() => setCounts(this.#any, [last], { key: null, at: new Date() }))
    await take()
    this.#expected.record([{ type: 'download', key, by: highest }], 'counted')
    this.#done.readings++
  }

  /** Renames or merges counters. Their sum stays the same, even if the outcome is unknown. */
  async #move(): Promise<void> {
    const pool = this.#random.pick(this.#pools)
    const [source, target] = [await addressOf(this.#random.pick(pool)), await addressOf(this.#random.pick(pool))]
    if (source.recordId === target.recordId) return
    const kind = this.#random.pick(['rename', 'merge'] as const)
    // Views take their visits along.
    const also = pool[0]!.type === 'view' ? [RECORD_TYPES.visit] : []
    const move = (key: bigint | null) => moveCounter(this.#any, source, { kind, target, also, below: null, key })
    if (this.#random.chance(0.3)) await this.#tolerant(move(null))
    else {
      const key = random63()
      await this.#untilKnown(() => move(key))
    }
    this.#done.moves++
  }

  async #import(): Promise<void> {
    const all = this.#poolsOf('download')
    // Of several ranges, only an isolate with one can make it. The others know afterwards that it was made.
    const wide = RANGES[0] === 1 && this.#random.chance(0.3)
    const pools = wide ? all : [this.#random.pick(all)]
    const increments = Array.from({ length: this.#random.between(1, 5) }, () => this.#ofPool(pools))
    const rows = await Promise.all(
      increments.map(async (increment) => {
        return { counter: await addressOf(increment), count: BigInt(increment.by), day: this.#day() }
      }),
    )
    const options = { id: random63(), at: new Date() }
    const bring = (on: FaultyDatabase) => importCounts(on, rows, options)
    expect(await this.#untilKnown(() => bring(wide ? this.#lossy[0]! : this.#any))).toBe(true)
    expect(await this.#untilKnown(() => bring(this.#any))).toBe(true)
    this.#expected.record(increments, 'counted')
    this.#done.imports++
    await this.#moment(200)
  }

  #day(): Date | null {
    return this.#random.chance(0.3) ? null : new Date(Date.now() - this.#random.between(0, 60) * DAY_MS)
  }

  /** Rolls up, often as if some days ago. */
  async #rollUp(): Promise<void> {
    if (performance.now() < this.#rollUpsRestUntil) return this.#moment(1_000)
    const at = new Date(Date.now() - this.#random.pick([0, 0, 0, 1, 2, 3, 4, 5, 6]) * DAY_MS)
    const pageSlots = this.#random.between(5, 300)
    const lease = this.#random.chance(0.3)
    await this.#tolerant(rollUp(this.#any, { at, pageSlots, maxStatements: 1_000, maxSeconds: 5, lease }))
    this.#done.rollUps++
    await this.#moment(200)
  }

  /** Deletes old hours, the slots of finished requests, and names. */
  async #expire(): Promise<void> {
    const options = { hourDays: HOUR_DAYS, pageHours: this.#random.between(5, 200), maxStatements: 100, at: new Date() }
    const expiring = expireHours(this.#any, { ...options, recordTypes: Object.values(RECORD_TYPES) })
    const count = ({ deleted }: { deleted: number }) => {
      this.#done.expired += deleted
    }
    await this.#tolerant(expiring.then(count))
    await this.#tolerant(pruneNames(withRetries(this.#any)))
    await this.#pruner.run(this.#any)
    await this.#moment(500)
  }

  /** Delivers some messages of the queue, in any order, some of them twice, possibly at the same time. */
  async #deliver(): Promise<void> {
    for (const body of this.#queue.bodies.splice(0))
      this.#waiting.push(new TestDelivery(body, { timestamp: new Date() }))
    const next = () => this.#waiting.splice(this.#random.between(0, this.#waiting.length - 1), 1)
    const some = Array.from({ length: Math.min(this.#waiting.length, this.#random.between(0, 5)) }, next).flat()
    this.#waiting.push(...some.filter(() => this.#random.chance(0.2)).map((delivery) => delivery.again()))
    const context = { db: this.#any, idempotencyHours: 24, deadLetters: null }
    const { applied, dead } = await consume(context, some, new Date())
    expect(dead).toEqual([])
    const more = some.filter(({ fate }) => fate !== 'acknowledged' || this.#random.chance(0.3))
    this.#waiting.push(...more.map((delivery) => delivery.again()))
    this.#done.delivered += applied
  }

  /** Reads the counters of a pool at one instant. Their sum has all that was acknowledged, and never falls. None is below 0. */
  async #read(): Promise<void> {
    const pool = this.#random.pick(this.#readPools)
    const addresses = await Promise.all(pool.map(addressOf))
    const acknowledged = this.#expected.acknowledged(pool[0]!)
    const counts = (await readCounters(this.#db, addresses)).map(countIn)
    const sum = counts.reduce((sum, count) => sum + count)
    if (sum < acknowledged || counts.some((count) => count < 0n)) {
      throw new Error(`read ${counts.join(' + ')} when ${acknowledged} had been acknowledged`)
    }
    this.#done.reads++
    await this.#moment(100)
  }

  async #verify(): Promise<void> {
    const limit = this.#random.pick([25, 60, 500])
    expect((await verifyAll(this.#db, { hourDays: HOUR_DAYS, limit })).wrong).toEqual([])
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

/** Whether an error may be met on such a network, with such clocks, and does not come from a mistake of ours. */
function passes(error: unknown): boolean {
  if (error instanceof Overtaken) return true
  if (!(error instanceof DatabaseFailure)) return false
  // A batch that has waited for an hour, by a clock that jumped, is given up.
  return ['unavailable', 'contention'].includes(error.kind) || error.message.includes('no request was there')
}
