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
const HOT = counterAt(0)
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

  it.each([
    { pruneAtOnce: false, keys: 'come again' },
    { pruneAtOnce: true, keys: 'come once' },
  ])('never meet a deadlock, and count exactly, while all else goes on and keys $keys', async ({ pruneAtOnce }) => {
    const E = (globalThis as any).STORM ?? {}
    const options = {
      seed: Date.now(),
      isolates: ISOLATES,
      requests: 60,
      rollUps: 3,
      prunings: 2,
      readers: 2,
      pruneAtOnce,
      ...E,
    }
    const storm = new Storm(db, options)
    try {
      await storm.run()
    } finally {
      console.log('storm', {
        ...options,
        ...storm.done,
        readings: storm.ledger.checked,
        ...Object.fromEntries(storm.network.lockErrors),
      })
    }
    await storm.ledger.checkExactly(db)
    await rollUpAll()
    await storm.ledger.checkExactly(db)
    if (storm.network.lockErrors.size > 0) console.log(await locks.latestDeadlock())
    expect([...storm.network.lockErrors]).toEqual([])
  })
})
