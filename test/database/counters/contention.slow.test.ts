import { beforeEach, describe, expect, it } from 'vitest'
import { random63 } from '../../../src/counters/ids.ts'
import type { CounterAddress } from '../../../src/counters/keys/counter-address.ts'
import { rangeOf } from '../../../src/counters/ranges.ts'
import type { Increment } from '../../../src/counters/write/increment-group.ts'
import { beside } from '../../harness/beside.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { TestIsolate } from '../../harness/isolate.ts'
import { LockBarrier } from '../../harness/lock-barrier.ts'
import { MixedWorkload } from '../../harness/mixed-workload.ts'
import { rollUpAt } from '../../harness/moves.ts'
import { RowLocks } from '../../harness/row-locks.ts'

const ISOLATES = 64
const counterAt = (i: number): CounterAddress => {
  return { recordType: 1, recordId: BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n), name: `/counter/${i}` }
}
const hit = (counter: CounterAddress): Increment => ({ counter, by: 1n })

describe('64 isolates that count the same counters', () => {
  let db: TestDatabase
  let locks: RowLocks

  const count = async () =>
    (await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')) +
    (await db.number('SELECT COALESCE(SUM(count), 0) FROM counters'))
  const rollUpAll = () => rollUpAt(db, new Date(), { pageSlots: 1_000 })

  beforeEach(async () => {
    db = await freshDatabase()
    locks = await RowLocks.of(db)
    // The default of both servers and of PlanetScale. A lower level takes fewer locks.
    expect(await locks.isolation()).toBe('REPEATABLE-READ')
  })

  it('hold the locks of all their flushes at the same time: the first and later ones, after a roll-up and after pruning', async () => {
    const database = db.open({ deadlineMs: 30_000 })
    const barrier = new LockBarrier(database, () => locks.waiting())
    // In one range: a flush sends one statement for each.
    const counters = Array.from({ length: 20 * db.ranges }, (_, i) => counterAt(i))
    const everywhere = counters.filter(({ recordId }) => rangeOf(recordId, db.ranges) === 0).map(hit)
    // Two isolates that store the same new name would wait for each other.
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
    for (let i = 0; i < 3; i++) await all(/INSERT INTO slotted_counters/)
    await all(/INSERT INTO slotted_counters/, random63)
    await rollUpAll()
    await all(/INSERT INTO slotted_counters/)
    await rollUpAll()
    expect((await db.arrange('DELETE FROM slotted_counters WHERE count = 0')).rowsAffected).toBeGreaterThan(ISOLATES)
    begin()
    await all(/INSERT INTO slotted_counters/)
    expect(await count()).toBe(BigInt((1 + 6 * ISOLATES) * everywhere.length))
  })

  it('never wait for each other: the server counts no row lock waits, except beside roll-ups', async () => {
    const database = () => db.open({ deadlineMs: 30_000 })
    let hits = 0
    /** Counts with new isolates, so that their slots are inserted. The name is stored already. */
    const write = async (...meanwhile: (() => Promise<unknown>)[]) => {
      const isolates = Array.from({ length: ISOLATES }, () => new TestIsolate(database()))
      const before = await locks.waits()
      const awaited = new Set<string>()
      const writers = isolates.map(async (isolate) => {
        for (let i = 0; i < 10; i++, hits++) expect(await isolate.count([hit(counterAt(0))])).toBe('counted')
      })
      const look = async () => {
        for (const lock of await locks.waiting()) awaited.add(lock)
      }
      await beside(Promise.all(writers), look, ...meanwhile)
      return { waits: (await locks.waits()) - before, awaited: [...awaited] }
    }
    /**
     * Other tests use the server too, and increase its count of waits. So this tries until a run without waits, a few times. No run
     * may wait for locks of this database.
     */
    const writeUndisturbed = async () => {
      for (let run = 0; run < 3; run++) {
        const { waits, awaited } = await write()
        expect(awaited).toEqual([])
        if (waits === 0n) return
      }
      console.log('the server counted row lock waits in every run, because other tests use it')
    }

    await new TestIsolate(database()).count([hit(counterAt(0))])
    hits++
    await db.behave({ commitMs: 4 })
    await writeUndisturbed()
    const { waits } = await write(rollUpAll)
    console.log(`beside roll-ups, ${waits} waits`)
    await writeUndisturbed()
    expect(await count()).toBe(BigInt(hits))
  })

  it.each([
    { pruneAtOnce: false, keys: 'repeat' },
    { pruneAtOnce: true, keys: 'do not repeat' },
  ])(
    'meet no deadlock, and count exactly, beside roll-ups, pruning and reads, when keys $keys',
    async ({ pruneAtOnce }) => {
      const options = { isolates: ISOLATES, requests: 30, rollUps: 3, prunings: 2, readers: 2, pruneAtOnce }
      const workload = new MixedWorkload(db, { seed: Date.now(), ...options })
      await workload.run()
      console.log(workload.description)
      await workload.ledger.checkExactly(db)
      await rollUpAll()
      await workload.ledger.checkExactly(db)
      expect([...workload.network.lockErrors], await locks.latestDeadlock()).toEqual([])
    },
  )
})
