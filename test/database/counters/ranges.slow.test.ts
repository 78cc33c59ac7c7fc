import { beforeEach, describe, expect, it } from 'vitest'
import { importCounts } from '../../../src/counters/changes/import-counts.ts'
import type { CounterAddress } from '../../../src/counters/counter-address.ts'
import { random63 } from '../../../src/counters/ids.ts'
import { addressOfKey } from '../../../src/counters/keys/key-address.ts'
import { prune } from '../../../src/counters/old-rows.ts'
import { rangeOf } from '../../../src/counters/ranges.ts'
import { readCounters } from '../../../src/counters/read/read-counters.ts'
import { leastRollUpStatements, type RollUpOptions, rollUp } from '../../../src/counters/rollup/roll-up.ts'
import { type Database, openDatabase } from '../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { TestIsolate } from '../../harness/isolate.ts'
import { countsOf, setCounter } from '../../harness/moves.ts'
import { verifyAll } from '../../harness/verify-all.ts'
import { writesAcrossRanges } from '../../harness/writes-within-ranges.ts'

const RANGES = 8
const TYPE = { recordType: 1 } as const
const AT = new Date()

describe('With several ranges', () => {
  let db: TestDatabase
  let ranged: Database
  let counters: CounterAddress[]

  beforeEach(async () => {
    db = await freshDatabase()
    ranged = openDatabase({ url: db.url, deadlineMs: 60_000, ranges: RANGES })
    counters = await Promise.all(Array.from({ length: 100 }, (_, i) => addressOfKey(TYPE, `/page/${i}`)))
    expect(new Set(counters.map(({ recordId }) => rangeOf(recordId, RANGES))).size).toBe(RANGES)
  })

  const ledger = () => ranged
  const increments = (by: bigint) => counters.map((counter) => ({ counter, by }))
  const counts = () => countsOf(ranged, counters)
  const run = (options: Partial<RollUpOptions> = {}) =>
    rollUp(ledger(), { pageSlots: 10, maxStatements: 2_000, maxSeconds: 100, at: AT, ...options })
  const all = (count: bigint) => counters.map(() => count)
  const partsOf = <Row extends { counter: CounterAddress }>(rows: readonly Row[]) =>
    Object.values(Object.groupBy(rows, ({ counter }) => rangeOf(counter.recordId, RANGES))) as Row[][]

  it('no statement writes to more than one of them', async () => {
    const isolate = new TestIsolate(ranged)
    const imported = counters.map((counter) => ({ counter, count: 4n, day: AT }))
    const statements = await db.recording(async () => {
      for (let i = 0; i < 3; i++) await isolate.count(increments(1n))
      await isolate.count(increments(2n), 77n)
      await isolate.settle()
      await run()
      for (const part of partsOf(imported)) await importCounts(ledger(), part, { id: random63(), at: AT })
      await setCounter(ledger(), counters[0]!, { count: 9n, id: random63(), at: AT })
      await db.arrange('UPDATE slotted_counters SET kept_until = 1')
      await prune(ranged, { pageSlots: 1_000, maxStatements: 100 })
    })
    const own = statements.filter(({ sql }) => !sql.startsWith('UPDATE'))
    expect(own.filter(({ sql }) => sql.startsWith('INSERT INTO slotted_counters')).length).toBeGreaterThan(4 * RANGES)
    expect(writesAcrossRanges(own, RANGES)).toEqual([])
    expect(await counts()).toEqual([9n, ...all(9n).slice(1)])
    expect((await verifyAll(ranged)).wrong).toEqual([])
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(0n)
  })

  it('an increment that fails in one of them has an unknown outcome, and counts once when it is sent again', async () => {
    const isolate = new TestIsolate(ranged)
    const victim = counters[5]!
    await db.behave({
      faults: [{ action: 'error', errno: 1213, match: `INSERT INTO slotted.*${victim.recordId}`, times: 3 }],
    })
    await expect(isolate.count(increments(1n), 99n)).rejects.toMatchObject({ applied: 'unknown' })
    const lost = (await counts()).filter((count) => count === 0n).length
    expect(lost).toBeGreaterThan(0)
    expect(lost).toBeLessThan(counters.length)
    await db.behave()
    expect(await isolate.count(increments(1n), 99n)).toBe('counted')
    expect(await counts()).toEqual(all(1n))
    await isolate.settle()
  })

  it('an increment that certainly failed in all of them was not applied', async () => {
    const isolate = new TestIsolate(ranged)
    await db.behave({ faults: [{ action: 'error', errno: 1213, match: 'INSERT INTO slotted', times: 1_000 }] })
    await expect(isolate.count(increments(1n))).rejects.toMatchObject({ applied: 'no' })
    await db.behave()
    expect(await counts()).toEqual(all(0n))
    await isolate.settle()
  })

  it('an import over several of them is refused, each time it is sent, and leaves nothing', async () => {
    const imported = counters.map((counter) => ({ counter, count: 3n, day: null }))
    const options = { id: random63(), at: AT }
    for (let time = 0; time < 2; time++) {
      await expect(importCounts(ledger(), imported, options)).rejects.toMatchObject({ reason: 'different_ranges' })
    }
    expect(await counts()).toEqual(all(0n))
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(0n)
    for (const part of partsOf(imported))
      expect(await importCounts(ledger(), part, { ...options, id: random63() })).toBe('done')
    expect(await counts()).toEqual(all(3n))
  })

  it('every range is rolled up in time although the budget of a run does not suffice for all', async () => {
    const isolate = new TestIsolate(ranged)
    const budget = { pageSlots: 2_000, maxStatements: leastRollUpStatements(RANGES) }
    await isolate.count(increments(1n))
    let rolledUp = 0
    for (let time = 0; time < 200 && rolledUp < counters.length; time++) {
      await run(budget)
      rolledUp = (await readCounters(ranged, counters)).filter(({ total }) => total > 0n).length
      await isolate.count(increments(1n))
    }
    expect(rolledUp).toBe(counters.length)
    await isolate.settle()
  })

  it('a range whose roll-up fails does not stop the others', async () => {
    const isolate = new TestIsolate(ranged)
    await isolate.count(increments(1n))
    await isolate.settle()
    const { recordId } = counters[9]!
    const failing = rangeOf(recordId, RANGES)
    await db.behave({
      faults: [{ action: 'error', errno: 1205, match: `INSERT INTO counters.*${recordId}`, times: 1_000 }],
    })
    await expect(run({ pageSlots: 1_000 })).rejects.toThrow('1205')
    await db.behave()
    const readings = await readCounters(ranged, counters)
    for (const [index, { total }] of readings.entries()) {
      expect(total).toBe(rangeOf(counters[index]!.recordId, RANGES) === failing ? 0n : 1n)
    }
    expect(await run()).toMatchObject({ outcome: 'complete', left: 0 })
    expect(await counts()).toEqual(all(1n))
  })
})

describe('Far from the database', () => {
  const FAR_MS = 24

  it.each([1, 4])(
    'a roll-up of %i ranges moves several pages at the same time, and every count once',
    async (ranges) => {
      const db = await freshDatabase()
      const far = openDatabase({ url: db.url, deadlineMs: 60_000, ranges: Math.max(ranges, db.ranges) })
      const counters = await Promise.all(Array.from({ length: 60 }, (_, i) => addressOfKey(TYPE, `/far/${i}`)))
      const isolate = new TestIsolate(far)
      // One counter has more slots than a page.
      for (let i = 0; i < 3; i++)
        await isolate.count(
          counters.map((counter) => ({ counter, by: 1n })),
          random63(),
        )
      for (let i = 0; i < 25; i++) await isolate.count([{ counter: counters[0]!, by: 1n }], random63())
      await isolate.settle()
      await db.behave({
        latencyMs: FAR_MS,
        faults: [
          { action: 'cut-answer', match: 'INSERT INTO slotted_counters', skip: 3 },
          { action: 'cut-answer', match: 'COMMIT', skip: 6 },
          { action: 'error', errno: 1213, match: 'INSERT INTO counter_periods', skip: 9 },
        ],
      })
      const run = () => rollUp(far, { pageSlots: 10, maxStatements: 5_000, maxSeconds: 100, at: AT })
      // Three failed pages end a run.
      const failed = (error: unknown) => expect(error).toMatchObject({ retry: true })
      for (let time = 0; time < 4; time++) await run().catch(failed)
      expect(await run()).toMatchObject({ outcome: 'complete', left: 0, slots: 0 })
      await db.behave()
      const readings = await readCounters(far, counters)
      const expected = counters.map((counter) => (counter === counters[0] ? 28n : 3n))
      expect(readings.map(({ total, pending }) => [total, pending])).toEqual(expected.map((count) => [count, 0n]))
      // Lanes have rows of their own.
      expect(await db.number('SELECT COUNT(DISTINCT range_lane) FROM type_history')).toBeGreaterThan(BigInt(ranges))
      expect((await verifyAll(far)).wrong).toEqual([])
    },
  )
})
