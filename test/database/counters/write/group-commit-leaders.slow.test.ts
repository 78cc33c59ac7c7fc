import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { type FlushContext, SlotPool } from '../../../../src/counters/write/flush-group.ts'
import { GroupCommit } from '../../../../src/counters/write/group-commit.ts'
import { consume, type QueueProducer } from '../../../../src/counters/write/queue.ts'
import type { Database, Executor } from '../../../../src/database/database.ts'
import { DatabaseFailure } from '../../../../src/database/errors.ts'
import { CircuitBreaker, withBreaker } from '../../../../src/database/retry-and-breaker.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { BatchesQueue, TestDelivery } from '../../../harness/fake-queues.ts'
import { countersInRange } from '../../../harness/keys-of-ranges.ts'
import { countsOf } from '../../../harness/moves.ts'
import { countingLoad } from '../../../harness/worker-load.ts'

/** Milliseconds that a leader may be silent while it waits for a statement. */
const DEADLINE_MS = 400
/** Milliseconds after which a statement is given up, so long that no slow machine reaches it. */
const PATIENCE_MS = 30_000
/** Milliseconds after which a silent leader is noticed. */
const SILENCE_MS = DEADLINE_MS + 700
/** Milliseconds that are longer than the breaker of a test is ever open. */
const PUT_OFF_MS = 2_500

/** A database that loses a statement, as if its sender had died when it sent it. */
class DeadlyDatabase implements Executor {
  readonly sent: string[] = []
  readonly #db: Database
  #match: RegExp | null = null

  constructor(db: Database) {
    this.#db = db
  }

  /** Loses the next statement that matches. */
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

/** A queue with its own way to take batches. */
const queueThat = (sendBatch: QueueProducer['sendBatch']): QueueProducer =>
  Object.assign(new BatchesQueue(), { sendBatch })

describe('Leaders of a group commit', () => {
  let db: TestDatabase
  let deadly: DeadlyDatabase
  let isolate: GroupCommit
  let [a, b]: CounterAddress[] = []
  const turns: Promise<unknown>[] = []

  const start = (overrides: Partial<FlushContext> = {}) =>
    new GroupCommit({
      db: deadly,
      deadlineMs: DEADLINE_MS,
      classicSlots: new Map(),
      slots: new SlotPool(),
      idempotencyHours: 24,
      queue: null,
      ...overrides,
    })
  const waitUntil = (turn: Promise<unknown>) => void turns.push(turn)
  const hit = (counter = a!, by = 1n) => isolate.count([{ counter, by }], { waitUntil })
  /** Some counters of a list, one each. */
  const part = (counters: readonly CounterAddress[], each: number, i: number) =>
    counters.slice(each * i, each * (i + 1)).map((counter) => ({ counter, by: 1n }))
  const countOf = async (counter = a!) => (await countsOf(db, [counter]))[0]!
  /** Counters of one range, as a group commit gets them. */
  const inFirstRange = (count: number) => countersInRange('/', count, db.ranges)
  const pass = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
  /** Makes the clock stand still. */
  const stopClock = () => vi.spyOn(Date, 'now').mockReturnValue(Date.now())
  /** Sets the clock forward. */
  const later = (milliseconds: number) => {
    const at = Date.now() + milliseconds
    vi.restoreAllMocks()
    vi.spyOn(Date, 'now').mockImplementation(() => at + performance.now() - began)
    const began = performance.now()
  }

  beforeEach(async () => {
    db = await freshDatabase()
    deadly = new DeadlyDatabase(db.open({ deadlineMs: PATIENCE_MS }))
    isolate = start()
    ;[a, b] = await inFirstRange(2)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    turns.splice(0)
  })

  it('are replaced if they die, even if they replaced one that was taken for dead during a pause', async () => {
    // The clock stands still, so that a leader pauses for a few milliseconds after many requests at once.
    stopClock()
    await Promise.all(Array.from({ length: 40 }, () => hit(b)))
    const first = hit()
    // During the pause the clock leaps, and another request sends what waits and dies.
    later(10_000)
    deadly.killAt(/INSERT INTO slotted/)
    void hit()
    expect(await Promise.all([first, hit()])).toEqual(['counted', 'counted'])
    expect(await countOf()).toBe(3n)
  })

  it('wait for more requests only until there are enough, and then another one leads', async () => {
    const writes = () => deadly.sent.filter((sql) => sql.includes('INSERT INTO slotted')).length
    // The clock stands still, so that a leader pauses for a few milliseconds after many requests at once.
    stopClock()
    await Promise.all(Array.from({ length: 40 }, () => hit(b)))
    await Promise.all(turns)
    const before = writes()
    const requests = Array.from({ length: 59 }, () => hit())
    expect(writes()).toBe(before)
    requests.push(hit())
    expect(writes()).toBe(before + 1)
    expect(await Promise.all(requests)).toEqual(requests.map(() => 'counted'))
    await Promise.all(turns)
    expect([writes(), await countOf()]).toEqual([before + 1, 60n])
    expect(countingLoad(isolate)).toEqual({ waiting: 0, flushes: 0 })
  })

  it('do not wait for more requests once a crowd is gone', async () => {
    await Promise.all(Array.from({ length: 40 }, () => hit(b)))
    await Promise.all(turns)
    later(2_000)
    const before = deadly.sent.length
    const alone = hit()
    expect(deadly.sent.length).toBeGreaterThan(before)
    expect(await alone).toBe('counted')
  })

  it('send the batch of a dead leader, but not once the rows that recognize it may be gone', async () => {
    deadly.killAt(/INSERT INTO slotted/)
    void hit(b)
    later(11 * 60_000)
    const sent = deadly.sent.length
    expect(await hit()).toBe('counted')
    // On a slow machine, one batch may be sent several times.
    const batches = new Set(deadly.sent.slice(sent).filter((sql) => sql.includes('INSERT INTO slotted')))
    expect(batches.size).toBe(1)
    expect([await countOf(), await countOf(b)]).toEqual([1n, 0n])
    expect(countingLoad(isolate).waiting).toBe(0)
  })

  it('send full groups at the same time although the database was near', async () => {
    const deadlineMs = 30_000
    isolate = start({ db: db.open({ deadlineMs }), deadlineMs })
    await hit()
    // The clock stands still, so that nothing becomes too old to wait.
    stopClock()
    const each = 501
    const counters = await inFirstRange(4 * each)
    const requests = Array.from({ length: 4 }, (_, i) => isolate.count(part(counters, each, i), { waitUntil }))
    // The last group is not full. It waits, unless the first hit took long.
    expect(countingLoad(isolate).flushes).toBeGreaterThanOrEqual(3)
    expect(await Promise.all(requests)).toEqual(requests.map(() => 'counted'))
  })

  it('lead one flush at a time, however many requests wait', async () => {
    // Thousands of rows take time on a busy machine.
    const deadlineMs = 30_000
    isolate = start({ db: db.open({ deadlineMs }), deadlineMs })
    // So far away that several leaders are needed.
    await db.behave({ latencyMs: 60 })
    await hit()
    await db.behave()
    // The clock stands still, so that nothing becomes too old to wait.
    stopClock()
    // Two of them do not fit into one statement.
    const each = 501
    const counters = await inFirstRange(8 * each)
    const most: number[] = []
    const requests = Array.from({ length: 8 }, (_, i) => {
      let turnsNow = 0
      return isolate.count(part(counters, each, i), {
        waitUntil(turn) {
          most.push(++turnsNow)
          void turn.then(() => turnsNow--)
        },
      })
    })
    await Promise.all(requests)
    expect(most.length).toBeGreaterThan(1)
    expect(Math.max(...most)).toBe(1)
  })

  it('are given time to send to the queue', async () => {
    const queued: string[] = []
    let sending = false
    isolate = start({
      queue: queueThat(async (messages) => {
        const counts = [...messages].flatMap(({ body }) =>
          (body as { rows: { add: string }[] }).rows.map(({ add }) => add),
        )
        sending ||= counts.includes('100')
        await pass(SILENCE_MS + 400)
        queued.push(...counts)
      }),
    })
    await hit(b)
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: 'INSERT INTO slotted', times: 100 }] })
    const first = hit(b, 10n)
    // It may have been tried before: on a slow machine, the first flush asks for a second leader.
    const waiting = hit(a, 100n)
    // The waiting increment is now being sent to the queue. The next request sees that.
    await expect.poll(() => sending, { interval: 10 }).toBe(true)
    const sent = deadly.sent.length
    const last = hit(b, 1_000n)
    expect(await Promise.all([first, waiting, last])).toEqual(['queued', 'queued', 'queued'])
    expect(queued.toSorted()).toEqual(['10', '100', '1000'])
    expect(deadly.sent.slice(sent).filter((sql) => sql.includes(`${a!.recordId}`) && sql.includes('slotted'))).toEqual(
      [],
    )
  })

  it('that fall silent while they queue a batch count it once, though another one writes it to the database', async () => {
    const queue = new BatchesQueue()
    isolate = start({
      queue: queueThat(async (messages) => {
        await queue.sendBatch(messages)
        return new Promise(() => {})
      }),
    })
    await hit()
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: 'INSERT INTO slotted', times: 100 }] })
    const first = hit(a, 10n)
    await expect.poll(() => queue.bodies.length, { interval: 10 }).toBe(1)
    expect(queue.bodies).toMatchObject([{ applied: 'no' }])
    await db.behave()
    later(10_000)
    expect([await hit(a, 100n), await first]).toEqual(['counted', 'counted'])
    const message = new TestDelivery(queue.bodies[0], { timestamp: new Date() })
    const context = { db, idempotencyHours: 24, deadLetters: null }
    await consume(context, [message, message.again()], new Date())
    expect(await countOf()).toBe(111n)
  })

  it('wait for more requests while batches go to the queue, however many wait', async () => {
    let statements = 0
    let messages = 0
    const away = new DatabaseFailure({ kind: 'unavailable', retry: false, applied: 'no' }, new Error('away'))
    isolate = start({
      db: {
        execute() {
          statements++
          return Promise.reject(away)
        },
      },
      queue: queueThat(async () => void messages++),
    })
    // The clock stands still, so that the pause of the queue is not over, and nothing becomes too old to wait.
    stopClock()
    await hit()
    const before = statements
    const crowd = Array.from({ length: 130 }, () => hit())
    // Who does not wait tries the database at once.
    expect([statements, messages]).toEqual([before, 1])
    expect(await Promise.all(crowd)).toEqual(crowd.map(() => 'queued'))
    expect(messages).toBe(2)
  })

  it('try a batch as soon as the database may be back', async () => {
    const breaker = new CircuitBreaker()
    const deadlineMs = 10_000
    isolate = start({
      db: withBreaker(db.open({ deadlineMs }), breaker),
      deadlineMs,
    })
    await db.behave({ faults: [{ action: 'cut-request', times: 1_000 }] })
    for (let i = 0; i < 3; i++) await expect(hit()).rejects.toThrow()
    await db.behave()
    later(PUT_OFF_MS)
    expect(await hit()).toBe('counted')
    expect(await countOf()).toBe(1n)
  })

  it('sum the increments of a request before it waits', async () => {
    await hit()
    const thousand = Array.from({ length: 1_000 }, () => ({ counter: a!, by: 1n }))
    const sent = deadly.sent.length
    await Promise.all(Array.from({ length: 50 }, () => isolate.count(thousand, { waitUntil })))
    expect(deadly.sent.length - sent).toBeLessThan(10)
    expect(await countOf()).toBe(50_001n)
  })
})
