import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { countIn, type Reading } from '../../../../src/counters/read/read-counters.ts'
import type { SharedReads } from '../../../../src/counters/shared-reads.ts'
import type { TestDatabase } from '../../../harness/database.ts'
import type { GatedDatabase } from '../../../harness/gated-database.ts'
import { TestIsolate } from '../../../harness/isolate.ts'
import { rollUpAt } from '../../../harness/moves.ts'
import { readingLoad } from '../../../harness/worker-load.ts'
import { A, B, counter, countsRead, gatedDatabase, pause, readsWithin } from './gated-reads.ts'

/** Milliseconds. Longer than anything takes on a busy machine. */
const DEADLINE_MS = 30_000
/** For tests in which requests die: the others notice that before they give up, after 8 s. The clock leaps there. */
const SHORT_DEADLINE_MS = 6_000
/** Milliseconds of silence after which a sender counts as dead then. */
const SILENCE_MS = SHORT_DEADLINE_MS + 600

describe('Shared reads', () => {
  let db: TestDatabase
  let gated: GatedDatabase
  let reads: SharedReads<Reading>
  const read = (...counters: CounterAddress[]) => reads.read(counters, () => {})
  const countOf = (...counters: CounterAddress[]) => countsRead(reads, counters)

  beforeEach(async () => {
    ;({ db, gated } = await gatedDatabase())
    reads = readsWithin(gated, DEADLINE_MS)
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

  it('of one counter, 200 at once, need two statements: one for the first, and one for the others', async () => {
    stopClock()
    const readings = await Promise.all(Array.from({ length: 200 }, () => read(A)))
    for (const found of readings) expect(found).toEqual([{ total: 40n, pending: 2n, rolledUpAt: null }])
    expect(gated.sent).toHaveLength(2)
  })

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

  it('include all that was acknowledged before they began, and nothing that began after they ended', async () => {
    const hot = counter(500n)
    const isolates = Array.from({ length: 3 }, () => new TestIsolate(db.open({ deadlineMs: 30_000 })))
    let begun = 0
    let acknowledged = 0
    let reading = 40
    const wrong: string[] = []
    let checked = 0
    const reader = async () => {
      // Enough reads, and beside enough increments, however the machine shares its time.
      for (let i = 0; i < 20 || acknowledged <= 20; i++) {
        const least = acknowledged
        const [found] = await read(hot, counter(BigInt(i % 20)))
        const count = Number(countIn(found!))
        if (count < least || count > begun) wrong.push(`${count} is not from ${least} to ${begun}`)
        checked++
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
      while (reading > 0) await rollUpAt(db, new Date(), { pageSlots: 100, maxStatements: 45, maxSeconds: 10 })
    }
    await Promise.all([...isolates.map(writer), ...Array.from({ length: reading }, reader), roller()])
    expect(wrong).toEqual([])
    // Otherwise the test would prove nothing about shared queries.
    expect(gated.sent.length).toBeLessThan(checked / 2)
    expect(acknowledged).toBeGreaterThan(20)
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
    reads = readsWithin(gated, SHORT_DEADLINE_MS)
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
    reads = readsWithin(gated, SHORT_DEADLINE_MS)
    gated.lose(2)
    const [, , ...others] = beginAtOnce(21)
    await untilSent(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    expect(await Promise.all(others)).toEqual(others.map(() => [42n]))
  })
})
