import { beforeEach, describe, expect, it } from 'vitest'
import type { Increment } from '../../src/counters/batch.ts'
import type { Counter } from '../../src/counters/counter.ts'
import { random64 } from '../../src/counters/random.ts'
import { rollUp } from '../../src/counters/rollup.ts'
import { openDatabase } from '../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestIsolate } from '../harness/isolate.ts'
import { LockBarrier } from '../harness/lock-barrier.ts'
import { RowLocks } from '../harness/row-locks.ts'
import { Storm } from '../harness/storm.ts'

const ISOLATES = 64
const counterAt = (i: number): Counter => {
  return { recordType: 1, recordId: BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n), name: `/counter/${i}` }
}
const hit = (counter: Counter): Increment => ({ counter, by: 1n })

describe('64 isolates that count the same', () => {
  let db: TestDatabase
  let locks: RowLocks

  const count = async () =>
    (await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')) +
    (await db.number('SELECT COALESCE(SUM(count), 0) FROM counter_totals'))
  const rollUpAll = () =>
    rollUp(db, { pageSlots: 2_000, maxStatements: 1_000, maxSeconds: 60, at: new Date(), lease: false })

  beforeEach(async () => {
    db = await freshDatabase()
    locks = await RowLocks.of(db)
    // What both servers, and PlanetScale, start with; a lower level takes fewer locks.
    expect(await locks.isolation()).toBe('REPEATABLE-READ')
  })

  it('hold the locks of all their flushes at once: first ones, later ones, after a roll-up, and after pruning', async () => {
    const database = openDatabase({ url: db.url, deadlineMs: 30_000 })
    const barrier = new LockBarrier(database, () => locks.waiting())
    const everywhere = Array.from({ length: 20 }, (_, i) => hit(counterAt(i)))
    // A name that is not there yet is waited for by those who want to store the same.
    await new TestIsolate(database).count(everywhere)
    let isolates: TestIsolate[] = []
    const begin = () => {
      isolates = Array.from({ length: ISOLATES }, () => new TestIsolate(barrier))
    }
    const all = (statement: RegExp, key?: () => bigint) =>
      barrier.holding(ISOLATES, statement, async () => {
        const outcomes = await Promise.all(isolates.map((isolate) => isolate.count(everywhere, key?.())))
        expect(outcomes).toEqual(Array(ISOLATES).fill('counted'))
      })

    begin()
    await all(/INSERT IGNORE INTO counter_names/)
    begin()
    for (let i = 0; i < 3; i++) await all(/INSERT INTO slotted_counters/)
    await all(/INSERT INTO slotted_counters/, random64)
    await rollUpAll()
    await all(/INSERT INTO slotted_counters/)
    await rollUpAll()
    expect((await db.execute('DELETE FROM slotted_counters WHERE count = 0')).rowsAffected).toBeGreaterThan(ISOLATES)
    begin()
    await all(/INSERT INTO slotted_counters/)
    expect(await count()).toBe(BigInt((1 + 7 * ISOLATES) * everywhere.length))
  })

  it('never wait for each other: the server’s count of row lock waits stands still, but for roll-ups', async () => {
    const database = () => openDatabase({ url: db.url, deadlineMs: 30_000 })
    let hits = 0
    /** Every isolate a new one, with first inserts and names that are known; locks held as replicated storage does. */
    const write = async (beside?: () => Promise<unknown>) => {
      const isolates = Array.from({ length: ISOLATES }, () => new TestIsolate(database()))
      const before = await locks.waits()
      const awaited = new Set<string>()
      let writing = true
      const writers = isolates.map(async (isolate) => {
        for (let i = 0; i < 20; i++, hits++) expect(await isolate.count([hit(counterAt(0))])).toBe('counted')
      })
      const untilWritten = async (work: () => Promise<unknown>) => {
        while (writing) await work()
      }
      const look = async () => {
        for (const lock of await locks.waiting()) awaited.add(lock)
      }
      const all = Promise.all(writers).finally(() => {
        writing = false
      })
      await Promise.all([all, untilWritten(look), beside && untilWritten(beside)])
      return { waits: (await locks.waits()) - before, awaited: [...awaited] }
    }
    /** Others use the server too, and move its count: until it was seen to stand still, what counts is who waits here. */
    const writeUndisturbed = async () => {
      for (const end = Date.now() + 20_000; ; ) {
        const { waits, awaited } = await write()
        expect(awaited).toEqual([])
        if (waits === 0n) return
        if (Date.now() > end)
          return console.log('the server’s count of row lock waits never stood still: others use it')
      }
    }

    await new TestIsolate(database()).count([hit(counterAt(0))])
    hits++
    await db.behave({ commitMs: 4 })
    for (let i = 0; i < 3; i++) await writeUndisturbed()
    const { waits } = await write(rollUpAll)
    console.log(`beside roll-ups, ${waits} waits`)
    await writeUndisturbed()
    expect(await count()).toBe(BigInt(hits))
  })

  it.each([
    { pruneAtOnce: false, keys: 'come again' },
    { pruneAtOnce: true, keys: 'come once' },
  ])('never meet a deadlock, and count exactly, while all else goes on and keys $keys', async ({ pruneAtOnce }) => {
    const options = { isolates: ISOLATES, requests: 30, rollUps: 3, prunings: 2, readers: 2, pruneAtOnce }
    const storm = new Storm(db, { seed: Date.now(), ...options })
    await storm.run()
    console.log(storm.description)
    await storm.ledger.checkExactly(db)
    await rollUpAll()
    await storm.ledger.checkExactly(db)
    expect([...storm.network.lockErrors], await locks.latestDeadlock()).toEqual([])
  })
})
