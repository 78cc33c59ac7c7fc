import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Counter, counterOf, type KeyedType } from '../../src/counters/counter.ts'
import type { FlushContext } from '../../src/counters/flush.ts'
import { GroupCommit } from '../../src/counters/group-commit.ts'
import { StoredNames } from '../../src/counters/names.ts'
import { readCounters } from '../../src/counters/read.ts'
import { SlotPool } from '../../src/counters/slots.ts'
import { CircuitBreaker, withBreaker } from '../../src/database/circuit-breaker.ts'
import { type Database, type Executor, openDatabase } from '../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const DEADLINE_MS = 400
/** Longer than it takes to notice that a leader, whose statement has its deadline, is silent. */
const SILENCE_MS = DEADLINE_MS + 700

const page: KeyedType = { recordType: 1, key: 'string' }

/** A database to which statements never get that some pattern matches: whoever sends one has died at that point. */
class DeadlyDatabase implements Executor {
  readonly sent: string[] = []
  readonly #db: Database
  #match: RegExp | null = null

  constructor(db: Database) {
    this.#db = db
  }

  /** The next one that matches is the last thing that its sender does. */
  killAt(match: RegExp): void {
    this.#match = match
  }

  execute(sql: string, args?: readonly unknown[]) {
    this.sent.push(sql)
    if (!this.#match?.test(sql)) return this.#db.execute(sql, args)
    this.#match = null
    return new Promise<never>(() => {})
  }
}

describe('leaders of a group commit', () => {
  let db: TestDatabase
  let deadly: DeadlyDatabase
  let isolate: GroupCommit
  let [a, b]: Counter[] = []
  const turns: Promise<unknown>[] = []

  const start = (overrides: Partial<FlushContext> = {}) =>
    new GroupCommit({
      db: deadly,
      deadlineMs: DEADLINE_MS,
      classicSlots: new Map(),
      slots: new SlotPool(),
      names: new StoredNames(),
      queue: null,
      ...overrides,
    })
  const hit = (counter = a!, by = 1n) => isolate.count([{ counter, by }], { waitUntil: (turn) => turns.push(turn) })
  /** Makes flushes so slow, as far as is known, that more than one is in flight at a time. */
  const slowDown = async () => {
    await db.behave({ latencyMs: 60 })
    for (let i = 0; i < 4; i++) await hit()
    await db.behave()
  }
  const countOf = async (counter = a!) => {
    const [{ total, pending } = { total: 0n, pending: 0n }] = await readCounters(db, [counter])
    return total + pending
  }
  const pass = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
  const later = (milliseconds: number) => {
    const at = Date.now() + milliseconds
    vi.restoreAllMocks()
    vi.spyOn(Date, 'now').mockImplementation(() => at + performance.now() - began)
    const began = performance.now()
  }

  beforeEach(async () => {
    db = await freshDatabase()
    deadly = new DeadlyDatabase(openDatabase({ url: db.url, deadlineMs: DEADLINE_MS }))
    isolate = start()
    a = await counterOf(page, '/a')
    b = await counterOf(page, '/b')
  })
  afterEach(() => {
    vi.restoreAllMocks()
    turns.splice(0)
  })

  it('keep a slot until nobody can send its batch again, also when they die over the names', async () => {
    await hit(b)
    await slowDown()
    const before = await countOf()
    const fresh = await counterOf(page, '/fresh')
    deadly.killAt(/counter_names/)
    void hit(fresh, 5n)
    // Its batch is applied before long, and its names are not: another flush has need of a slot.
    await expect.poll(() => countOf(fresh), { timeout: 5_000 }).toBe(5n)
    for (let i = 0; i < 3; i++) await hit(fresh, 100n)
    await pass(SILENCE_MS)
    await hit(fresh, 1_000n)
    expect(await countOf(fresh)).toBe(1_305n)
    expect(await countOf()).toBe(before)
    expect(isolate.load.waiting).toBe(0)
  })

  it('are noticed when they die, even if they had been taken for dead while they paused', async () => {
    // The clock stands still, so that whoever comes after many at once pauses for a few milliseconds before it sends.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    await Promise.all(Array.from({ length: 40 }, () => hit(b)))
    await db.behave({ latencyMs: 50 })
    // While it does, the clock leaps, another one sends what waits, and the first wakes to one more, with which it dies.
    void hit()
    later(10_000)
    const second = hit()
    deadly.killAt(/INSERT INTO slotted/)
    expect(await Promise.all([second, hit()])).toEqual(['counted', 'counted'])
    expect(await countOf()).toBe(3n)
  })

  it('send a batch that was left behind, but not when the rows that recognise it may be gone', async () => {
    deadly.killAt(/INSERT INTO slotted/)
    void hit(b)
    later(11 * 60_000)
    const sent = deadly.sent.length
    expect(await hit()).toBe('counted')
    const batches = deadly.sent.slice(sent).filter((sql) => sql.includes('INSERT INTO slotted'))
    expect(batches.length).toBe(1)
    expect([await countOf(), await countOf(b)]).toEqual([1n, 0n])
    expect(isolate.load.waiting).toBe(0)
  })

  it('lead one turn at a time, however much waits', async () => {
    await hit()
    // Slower than it was: more and more leaders are wanted while the first ones are at work.
    await db.behave({ latencyMs: 60 })
    const counters = await Promise.all(Array.from({ length: 16_000 }, (_, i) => counterOf(page, `/many/${i}`)))
    const most: number[] = []
    const requests = Array.from({ length: 16 }, (_, i) => {
      let turnsNow = 0
      return isolate.count(
        counters.slice(1_000 * i, 1_000 * (i + 1)).map((counter) => ({ counter, by: 1n })),
        {
          waitUntil(turn) {
            most.push(++turnsNow)
            void turn.then(() => turnsNow--)
          },
        },
      )
    })
    await Promise.all(requests)
    expect(most.length).toBeGreaterThan(1)
    expect(Math.max(...most)).toBe(1)
  })

  it('let what they are sending into the queue have its time', async () => {
    const queued: bigint[] = []
    let sending = false
    isolate = start({
      queue: {
        async send(batch) {
          sending ||= batch.some(({ count }) => count === 100n)
          await pass(1_500)
          queued.push(...batch.map(({ count }) => count))
        },
      },
    })
    await hit(b)
    await db.behave({ faults: [{ action: 'hang-request', match: 'INSERT INTO slotted', times: 100 }] })
    const first = hit(b, 10n)
    // Whether somebody tried it before depends on how fast this machine is: the first flush may have asked for a second leader.
    const waiting = hit(a, 100n)
    // By now what waited is on its way into the queue. Whoever comes sees that it is.
    await vi.waitFor(() => expect(sending).toBe(true), { timeout: 20_000, interval: 10 })
    const sent = deadly.sent.length
    const last = hit(b, 1_000n)
    expect(await Promise.all([first, waiting, last])).toEqual(['queued', 'queued', 'queued'])
    expect(queued.toSorted()).toEqual([10n, 100n, 1_000n].toSorted())
    expect(deadly.sent.slice(sent).filter((sql) => sql.includes(`${a!.recordId}`) && sql.includes('slotted'))).toEqual(
      [],
    )
  })

  it('try the batch first when the database may be back, and the names when there is time', async () => {
    const breaker = new CircuitBreaker({ failures: 2, slowMs: 1_000, openMs: 20, maxOpenMs: 500 })
    isolate = start({ db: withBreaker(openDatabase({ url: db.url, deadlineMs: DEADLINE_MS }), breaker) })
    await db.behave({ faults: [{ action: 'cut-request', times: 1_000 }] })
    for (let i = 0; i < 3; i++) await expect(hit()).rejects.toThrow()
    await db.behave()
    // Longer than names are only owed, and than the breaker is ever open.
    await pass(2_500)
    expect(await hit()).toBe('counted')
    await pass(2_500)
    await hit()
    const { rows } = await db.execute('SELECT CAST(name AS CHAR) AS name FROM counter_names')
    expect(rows).toEqual([{ name: '/a' }])
  })

  it('do not know what is left of a batch of which one attempt failed halfway and the next was refused', async () => {
    await hit()
    await db.behave({
      faults: [
        { action: 'error', errno: 1213, match: 'INSERT INTO slotted' },
        { action: 'error', errno: 1264, match: 'INSERT INTO slotted', times: 100 },
      ],
    })
    const both = isolate.count(
      [
        { counter: a!, by: 1n },
        { counter: b!, by: 1n },
      ],
      { waitUntil: (turn) => turns.push(turn) },
    )
    await expect(both).rejects.toMatchObject({ kind: 'range', applied: 'unknown' })
  })

  it('add up what one request says of one counter before it waits', async () => {
    await hit()
    const thousand = Array.from({ length: 1_000 }, () => ({ counter: a!, by: 1n }))
    const sent = deadly.sent.length
    await Promise.all(Array.from({ length: 50 }, () => isolate.count(thousand, { waitUntil: (t) => turns.push(t) })))
    expect(deadly.sent.length - sent).toBeLessThan(10)
    expect(await countOf()).toBe(50_001n)
  })
})
