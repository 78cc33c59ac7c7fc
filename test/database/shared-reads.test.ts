import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Counter } from '../../src/counters/counter.ts'
import { Overloaded } from '../../src/counters/overloaded.ts'
import { rollUp } from '../../src/counters/rollup.ts'
import { type SharedReading, SharedReads } from '../../src/counters/shared-reads.ts'
import { type Executor, openDatabase } from '../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestIsolate } from '../harness/isolate.ts'

/** Longer than anything takes on a machine that is shared; short where somebody dies. */
const DEADLINE_MS = 30_000
const SHORT_DEADLINE_MS = 400

/** The database, with a gate before it and a record of what was let through. */
class GatedDatabase implements Executor {
  readonly sent: string[] = []
  readonly #db: Executor
  #gate: Promise<void> = Promise.resolve()
  #lost = 0

  constructor(db: Executor) {
    this.#db = db
  }

  /** Holds statements back until what it returns is called. */
  close(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  /** So many statements from now on never get there, nor do their senders hear of it: they have died. */
  lose(statements: number): void {
    this.#lost = statements
  }

  async execute(sql: string, args?: readonly unknown[]) {
    this.sent.push(sql)
    if (this.#lost-- > 0) return new Promise<never>(() => {})
    await this.#gate
    return this.#db.execute(sql, args)
  }
}

describe('shared reads', () => {
  let db: TestDatabase
  let gated: GatedDatabase
  let reads: SharedReads
  const counter = (recordId: bigint, recordType = 1): Counter => ({ recordType, recordId, name: null })
  const [a, b] = [counter(1n), counter(2n ** 64n - 1n, 2)]
  const readsWithin = (deadlineMs: number) => new SharedReads(gated, { deadlineMs, consistency: 'exact' })
  const read = (...counters: Counter[]): Promise<SharedReading> => reads.read(counters, () => {})
  const countOf = async (...counters: Counter[]): Promise<bigint[]> =>
    (await read(...counters)).readings.map(({ total, pending }) => total + pending)

  beforeEach(async () => {
    db = await freshDatabase()
    await db.execute('INSERT INTO counter_totals VALUES (1, 1, 40, 3, NULL), (2, 1, 999, 1, NULL)')
    await db.execute(
      'INSERT INTO slotted_counters VALUES (1, 1, 1, 2, 1, 0, DEFAULT), (2, 18446744073709551615, 9, 5, 1, 0, DEFAULT)',
    )
    gated = new GatedDatabase(db)
    reads = readsWithin(DEADLINE_MS)
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('ask at once, alone, where nothing is in flight', async () => {
    expect(await countOf(a)).toEqual([42n])
    expect(await read(a)).toMatchObject({ shared: false, readings: [{ total: 40n, pending: 2n }] })
    expect(gated.sent).toHaveLength(2)
  })

  /** As if everything that follows happened at one instant, however slow the machine is. */
  const stopClock = () => vi.useFakeTimers({ toFake: ['Date'] })

  it('of one counter, 200 at once, take two statements: the first one’s, and one for all that came after', async () => {
    stopClock()
    const readings = await Promise.all(Array.from({ length: 200 }, () => read(a)))
    for (const { readings: found } of readings) expect(found).toEqual([{ total: 40n, pending: 2n, rolledUpAt: null }])
    expect(gated.sent).toHaveLength(2)
    expect(readings.filter(({ shared }) => shared)).toHaveLength(199)
  })

  it('of different counters and types share a statement, each gets its own, in its order, repeats included', async () => {
    stopClock()
    const letGo = gated.close()
    const all = [countOf(a), countOf(b, a), countOf(a, b, a), countOf(counter(1n, 2)), countOf(counter(77n))]
    letGo()
    expect(await Promise.all(all)).toEqual([[42n], [5n, 42n], [42n, 5n, 42n], [999n], [0n]])
    expect(gated.sent).toHaveLength(2)
  })

  it('of more counters than a statement may name take several, and all are answered', async () => {
    const list = (begin: bigint) => Array.from({ length: 1_000 }, (_, i) => counter(begin + BigInt(i)))
    const all = await Promise.all([countOf(a), countOf(a), countOf(...list(1n)), countOf(...list(5_000n)), countOf(a)])
    expect(all.map(([first]) => first)).toEqual([42n, 42n, 42n, 0n, 42n])
    expect(gated.sent.length).toBeLessThanOrEqual(5)
  })

  it('never use a statement that was sent before they began', async () => {
    const letGo = gated.close()
    const early = countOf(a)
    await vi.waitFor(() => expect(gated.sent).toHaveLength(1))
    // Acknowledged while the first one's statement is held up, after which another one comes.
    await db.execute('UPDATE slotted_counters SET count = count + 10 WHERE record_type = 1')
    const late = countOf(a)
    await vi.waitFor(() => expect(gated.sent).toHaveLength(2))
    letGo()
    expect([await early, await late]).toEqual([[52n], [52n]])
    expect(gated.sent).toHaveLength(2)
  })

  it('see all that was acknowledged before they began, and nothing that was not begun when they ended', async () => {
    const hot = counter(500n)
    const isolates = Array.from({ length: 3 }, () => new TestIsolate(openDatabase({ url: db.url, deadlineMs: 30_000 })))
    let begun = 0
    let acknowledged = 0
    let reading = 40
    const wrong: string[] = []
    let checked = 0
    let shared = 0
    const reader = async () => {
      for (let i = 0; i < 20; i++) {
        const least = acknowledged
        const found = await read(hot, counter(BigInt(i)))
        const count = Number(found.readings[0]!.total + found.readings[0]!.pending)
        if (count < least || count > begun) wrong.push(`${count} is not from ${least} to ${begun}`)
        checked++
        if (found.shared) shared++
      }
      reading--
    }
    const writer = async (isolate: TestIsolate) => {
      while (reading > 0) {
        begun++
        await isolate.count([{ counter: hot, by: 1n }])
        acknowledged++
      }
      await isolate.settle()
    }
    const roller = async () => {
      while (reading > 0) {
        await rollUp(db, { pageSlots: 100, maxStatements: 45, maxSeconds: 10, at: new Date(), lease: false })
      }
    }
    await Promise.all([...isolates.map(writer), ...Array.from({ length: reading }, reader), roller()])
    expect(wrong).toEqual([])
    // It would prove nothing if they had not shared.
    expect(shared).toBeGreaterThan(checked / 2)
    expect(gated.sent.length).toBeLessThan(checked / 2)
    expect(acknowledged).toBeGreaterThan(20)
  })

  it('are all told when the database fails, and the next ones are answered', async () => {
    await db.behave({ faults: [{ action: 'error', errno: 1045, times: 2 }] })
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => read(a)))
    for (const outcome of all) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'credentials' } })
    }
    expect(gated.sent).toHaveLength(2)
    expect(await countOf(a)).toEqual([42n])
    expect(reads.load).toEqual({ waiting: 0, queries: 0 })
  })

  it('are sent again, as queries may be, after what may pass', async () => {
    await db.behave({ faults: [{ action: 'cut-answer', times: 2 }] })
    expect(await countOf(a)).toEqual([42n])
  })

  it('whose query nobody looks after any more are answered by another one’s', async () => {
    reads = readsWithin(SHORT_DEADLINE_MS)
    gated.lose(2)
    const first = read(a)
    const others = Array.from({ length: 20 }, () => countOf(a))
    // The first one's statement is lost, and so is that of the first of the others; the third gets through.
    const dead = others.shift()!
    const answers = await Promise.all(others)
    expect(answers).toEqual(others.map(() => [42n]))
    expect(gated.sent).toHaveLength(3)
    expect(await Promise.race([first, dead, 'nobody'])).toBe('nobody')
    // What the first one left behind keeps nobody from anything.
    expect(await countOf(b)).toEqual([5n])
  })

  it('give up in time when one sender after another dies', async () => {
    reads = readsWithin(SHORT_DEADLINE_MS)
    gated.lose(1_000)
    const told: string[] = []
    for (let i = 0; i < 40; i++) {
      read(a).catch((error: Error) => told.push(error.message))
    }
    // Each of those who send dies of it; the others are told before long.
    await vi.waitFor(() => expect(gated.sent.length + told.length).toBe(40), { timeout: 30_000 })
    expect(new Set(told)).toEqual(new Set(['no query that this read could share was answered in time']))
    expect(told.length).toBeGreaterThan(20)
    gated.lose(0)
    expect(await countOf(a)).toEqual([42n])
  })

  it('are answered whatever the clock does', async () => {
    const letGo = gated.close()
    const before = Array.from({ length: 10 }, () => countOf(a))
    await vi.waitFor(() => expect(gated.sent).toHaveLength(2))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    const after = Array.from({ length: 10 }, () => countOf(a))
    letGo()
    expect(new Set((await Promise.all([...before, ...after])).flat())).toEqual(new Set([42n]))
    vi.setSystemTime(Date.now() + 7_200_000)
    expect(await countOf(a)).toEqual([42n])
    expect(reads.load).toEqual({ waiting: 0, queries: 0 })
  })

  it('are answered by another one’s query although the clock was set back since their sender died', async () => {
    reads = readsWithin(SHORT_DEADLINE_MS)
    gated.lose(2)
    read(a)
    const [, ...others] = Array.from({ length: 20 }, () => countOf(a))
    await vi.waitFor(() => expect(gated.sent).toHaveLength(2))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    expect(await Promise.all(others)).toEqual(others.map(() => [42n]))
  }, 30_000)

  it('are refused when too many wait, and taken again when these are answered', async () => {
    const letGo = gated.close()
    const waiting = Array.from({ length: 8_192 }, () => read(a))
    await expect(read(a)).rejects.toThrow(Overloaded)
    letGo()
    await Promise.all(waiting)
    expect(await countOf(a)).toEqual([42n])
  })
})
