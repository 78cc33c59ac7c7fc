import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Reading } from '../../../../src/counters/read/read-counters.ts'
import type { SharedReads } from '../../../../src/counters/shared-reads.ts'
import { Overloaded } from '../../../../src/counters/shared-work-state.ts'
import type { GatedDatabase } from '../../../harness/gated-database.ts'
import { A, counter, countsRead, gatedDatabase, pause, readsWithin } from './gated-reads.ts'

/** Milliseconds. Longer than anything takes on a busy machine, and short for a test in which requests die. */
const DEADLINE_MS = 30_000
const SHORT_DEADLINE_MS = 400

describe('Shared reads', () => {
  let gated: GatedDatabase
  const read = (reads: SharedReads<Reading>) => reads.read([A], () => {})

  beforeEach(async () => {
    ;({ gated } = await gatedDatabase())
    // The clock stands still, so that no read becomes too old to wait.
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('give up in time if one sender after another dies', async () => {
    const reads = readsWithin(gated, SHORT_DEADLINE_MS)
    gated.lose(1_000)
    const told: string[] = []
    for (let i = 0; i < 40; i++) {
      read(reads).catch((error: Error) => told.push(error.message))
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
    expect(await countsRead(reads, [A])).toEqual([42n])
  })

  it('are refused if too many wait, and accepted again once these are answered', async () => {
    const reads = readsWithin(gated, DEADLINE_MS)
    const letGo = gated.close()
    const waiting = Array.from({ length: 8_192 }, () => read(reads))
    await expect(read(reads)).rejects.toThrow(Overloaded)
    // Late enough for all of them to look seldom.
    vi.setSystemTime(Date.now() + 1_000)
    letGo()
    await Promise.all(waiting)
    expect(await countsRead(reads, [A])).toEqual([42n])
  })

  it('of one counter are accepted while reads of many wait for as many counters as may', async () => {
    const reads = readsWithin(gated, DEADLINE_MS)
    const letGo = gated.close()
    const thousand = (i: number) => Array.from({ length: 1_000 }, (_, j) => counter(BigInt(1_000 * i + j)))
    const waiting = Array.from({ length: 20 }, (_, i) => reads.read(thousand(i), () => {}))
    await expect(reads.read(thousand(20), () => {})).rejects.toThrow(Overloaded)
    const one = read(reads)
    letGo()
    await Promise.all([one, ...waiting])
  })
})
