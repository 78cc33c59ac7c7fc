import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { countIn, MAX_READ, type Reading, readCounters } from '../../../../src/counters/read/read-counters.ts'
import { SharedReads } from '../../../../src/counters/shared-reads.ts'
import { Overloaded } from '../../../../src/counters/shared-work-state.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { GatedDatabase } from '../../../harness/gated-database.ts'
import { readingLoad } from '../../../harness/worker-load.ts'

/** Milliseconds. Longer than anything takes on a busy machine. */
const DEADLINE_MS = 30_000
/** For tests in which requests die: the others notice that before they give up, after 8 s. The clock leaps there. */
const SHORT_DEADLINE_MS = 6_000
/** Milliseconds of silence after which a sender counts as dead then. */
const SILENCE_MS = SHORT_DEADLINE_MS + 600

const counter = (recordId: bigint, recordType = 1): CounterAddress => ({ recordType, recordId, name: `/${recordId}` })
/** A counter that reads as 42, and one that reads as 5. */
const [A, B] = [counter(1n), counter(2n ** 64n - 1n, 2)]
/** Waits a moment, by the real clock. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('Shared reads', () => {
  let db: TestDatabase
  let gated: GatedDatabase
  let reads: SharedReads<Reading>
  const read = (...counters: CounterAddress[]) => reads.read(counters, () => {})
  const countOf = async (...counters: CounterAddress[]) => (await read(...counters)).map(countIn)
  /** Reads of an isolate that give up a query after some milliseconds. */
  const readsWithin = (deadlineMs: number) =>
    new SharedReads([gated], { deadlineMs, maxCounters: MAX_READ, read: readCounters })

  beforeEach(async () => {
    db = await freshDatabase()
    await db.insert('totals', '(1, 1, 40, 3, NULL), (2, 1, 999, 1, NULL), (2, 18446744073709551615, 0, 1, NULL)')
    await db.insert('slotted_counters', '(1, 1, 1, 2, 1, 0), (2, 18446744073709551615, 9, 5, 1, 0)')
    gated = new GatedDatabase(db)
    reads = readsWithin(DEADLINE_MS)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
  /** Waits for statements. The clock may stand still, which `expect.poll` would set forward. */
  const untilSent = async (statements: number) => {
    while (gated.sent.length < statements) await pause()
    expect(gated.sent).toHaveLength(statements)
  }

  /** Makes everything that follows happen at one instant, however slow the machine is. */
  const stopClock = () => vi.useFakeTimers({ toFake: ['Date'] })

  /** Begins reads of one counter at one instant: the first sends a statement, and the others share the next one. */
  const beginAtOnce = (requests: number): Promise<bigint[]>[] => {
    stopClock()
    const begun = Array.from({ length: requests }, () => countOf(A))
    vi.useRealTimers()
    return begun
  }

  it('of different counters and types share a statement, and each gets its own counters in its own order', async () => {
    stopClock()
    const letGo = gated.close()
    const all = [countOf(A), countOf(B, A), countOf(A, B, A), countOf(counter(1n, 2)), countOf(counter(77n))]
    letGo()
    expect(await Promise.all(all)).toEqual([[42n], [5n, 42n], [42n, 5n, 42n], [999n], [0n]])
    expect(gated.sent).toHaveLength(2)
  })

  it('of more counters than fit into a statement need several, and all are answered', async () => {
    const list = (begin: bigint) => Array.from({ length: 1_000 }, (_, i) => counter(begin + BigInt(i)))
    const all = await Promise.all([countOf(A), countOf(A), countOf(...list(1n)), countOf(...list(5_000n)), countOf(A)])
    expect(all.map(([first]) => first)).toEqual([42n, 42n, 42n, 0n, 42n])
    expect(gated.sent.length).toBeLessThanOrEqual(5)
  })

  it('never use a query that was sent before they began', async () => {
    const letGo = gated.close()
    const early = countOf(A)
    await untilSent(1)
    // An increment while the statement of the first read is held back. The second read comes after it.
    await db.arrange('UPDATE slotted_counters SET count = count + 10 WHERE record_type = 1')
    const late = countOf(A)
    await untilSent(2)
    letGo()
    expect([await early, await late]).toEqual([[52n], [52n]])
    expect(gated.sent).toHaveLength(2)
  })

  it('all fail if the database fails, and the next reads succeed', async () => {
    // Every statement, because one that an earlier test gave up may still arrive.
    await db.behave({ faults: [{ action: 'error', errno: 1045, times: 100 }] })
    const all = await Promise.allSettled(beginAtOnce(20))
    for (const outcome of all) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'credentials' } })
    }
    expect(gated.sent).toHaveLength(2)
    await db.behave()
    expect(await countOf(A)).toEqual([42n])
    expect(readingLoad(reads)).toEqual({ waiting: 0, queries: 0 })
  })

  it('are retried after transient failures', async () => {
    await db.behave({ faults: [{ action: 'cut-answer', times: 2 }] })
    expect(await countOf(A)).toEqual([42n])
  })

  it('are answered by another query if the sender of theirs has died', async () => {
    reads = readsWithin(SHORT_DEADLINE_MS)
    gated.lose(2)
    // The first two statements are lost. The third gets through.
    stopClock()
    const [first, dead, ...others] = Array.from({ length: 21 }, () => countOf(A))
    vi.setSystemTime(Date.now() + 10)
    await untilSent(2)
    vi.setSystemTime(Date.now() + SILENCE_MS)
    const answers = await Promise.all(others)
    expect(answers).toEqual(others.map(() => [42n]))
    expect(gated.sent).toHaveLength(3)
    expect(await Promise.race([first, dead, 'no answer'])).toBe('no answer')
    // What the dead reads left behind does not block others.
    expect(await countOf(B)).toEqual([5n])
  })

  it('are answered if the clock is set back or forward', async () => {
    const letGo = gated.close()
    const before = beginAtOnce(10)
    await untilSent(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    const after = Array.from({ length: 10 }, () => countOf(A))
    letGo()
    expect(new Set((await Promise.all([...before, ...after])).flat())).toEqual(new Set([42n]))
    vi.setSystemTime(Date.now() + 7_200_000)
    expect(await countOf(A)).toEqual([42n])
    expect(readingLoad(reads)).toEqual({ waiting: 0, queries: 0 })
  })

  it('are not sent again by all if the clock is set back a little', async () => {
    const letGo = gated.close()
    const waiting = beginAtOnce(20)
    await untilSent(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 100 })
    // Each of them looks several times.
    const looks = vi.spyOn(Date, 'now')
    while (looks.mock.calls.length < 5 * waiting.length) await pause()
    expect(gated.sent).toHaveLength(2)
    letGo()
    expect(new Set((await Promise.all(waiting)).flat())).toEqual(new Set([42n]))
  })

  it('are answered by another query if the clock is set back after their sender has died', async () => {
    reads = readsWithin(SHORT_DEADLINE_MS)
    gated.lose(2)
    const [, , ...others] = beginAtOnce(21)
    await untilSent(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    expect(await Promise.all(others)).toEqual(others.map(() => [42n]))
  })

  it('give up in time if one sender after another dies', async () => {
    stopClock()
    reads = readsWithin(400)
    gated.lose(1_000)
    const told: string[] = []
    for (let i = 0; i < 40; i++) {
      read(A).catch((error: Error) => told.push(error.message))
    }
    // Each sender dies. The other reads fail in time, by a clock that goes ten times as fast.
    while (gated.sent.length + told.length < 40) {
      await pause()
      vi.setSystemTime(Date.now() + 50)
    }
    expect(gated.sent.length + told.length).toBe(40)
    expect(new Set(told)).toEqual(new Set(['no query that this read could share was answered in time']))
    // At most 21 can die within the 8 s that a read waits: one each 400 ms.
    expect(told.length).toBeGreaterThanOrEqual(40 - 21)
    gated.lose(0)
    expect(await countOf(A)).toEqual([42n])
  })

  it('are refused if too many wait, and accepted again once these are answered', async () => {
    stopClock()
    const letGo = gated.close()
    const waiting = Array.from({ length: 8_192 }, () => read(A))
    await expect(read(A)).rejects.toThrow(Overloaded)
    // Late enough for all of them to look seldom.
    vi.setSystemTime(Date.now() + 1_000)
    letGo()
    await Promise.all(waiting)
    expect(await countOf(A)).toEqual([42n])
  })

  it('of one counter are accepted while reads of many wait for as many counters as may', async () => {
    stopClock()
    const letGo = gated.close()
    const thousand = (i: number) => Array.from({ length: 1_000 }, (_, j) => counter(BigInt(1_000 * i + j)))
    const waiting = Array.from({ length: 20 }, (_, i) => read(...thousand(i)))
    await expect(read(...thousand(20))).rejects.toThrow(Overloaded)
    const one = read(A)
    letGo()
    await Promise.all([one, ...waiting])
  })
})
