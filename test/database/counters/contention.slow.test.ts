import { beforeEach, describe, expect, it } from 'vitest'
import { byPrimaryKey, type CounterAddress } from '../../../src/counters/counter-address.ts'
import { counterValues } from '../../../src/counters/counters-sql.ts'
import { random63 } from '../../../src/counters/ids.ts'
import { prune } from '../../../src/counters/old-rows.ts'
import { rangeOf, rowsByRange } from '../../../src/counters/ranges.ts'
import { rollUp } from '../../../src/counters/rollup/roll-up.ts'
import type { Increment } from '../../../src/counters/write/increment-group.ts'
import { beside } from '../../harness/beside.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { NOT_KEPT, TestIsolate } from '../../harness/isolate.ts'
import { Ledger } from '../../harness/ledger.ts'
import { LockBarrier } from '../../harness/lock-barrier.ts'
import { expectExact, rollUpAt } from '../../harness/moves.ts'
import { Random } from '../../harness/random.ts'
import { RowLocks, WatchedNetwork } from '../../harness/row-locks.ts'

const ISOLATES = 64
const COUNTERS = 150
/** Number of idempotency keys. Several isolates send each of them, many times. */
const KEYS = 400
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
    // Slots are deleted as soon as they are empty. That of a repeated key might be gone.
    { pruneAtOnce: true, keys: 'do not repeat' },
  ])(
    'meet no deadlock, and count exactly, beside roll-ups, pruning and reads, when keys $keys',
    async ({ pruneAtOnce }) => {
      const network = new WatchedNetwork()
      const open = () => db.open({ deadlineMs: 30_000, fetch: network.fetch })
      const ledger = new Ledger(Array.from({ length: COUNTERS }, (_, i) => counterAt(i)))
      const random = new Random(Date.now())
      const below = (bound: number) => random.between(0, bound - 1)
      // Half of all increments go to two counters.
      const anyIndex = () => below(below(2) ? 2 : COUNTERS)
      const done = { isolates: 0, moved: 0, overtaken: 0, pruned: 0 }

      const sentKeys = new Set<bigint>()
      /** The increments follow from a key that repeats, because it belongs to one request. Otherwise they are few, or many. */
      const request = () => {
        const key = below(5) ? undefined : pruneAtOnce ? random63() : BigInt(1 + below(KEYS))
        if (key !== undefined && !pruneAtOnce) {
          const increments = Array.from({ length: 15 }, (_, i) => ({ index: i * 10 + Number(key % 10n), by: 1n }))
          return { key, increments, counts: !sentKeys.has(key) && sentKeys.add(key) }
        }
        const length = 1 + below(below(4) ? 3 : 60)
        const increments = Array.from({ length }, () => ({ index: anyIndex(), by: BigInt(below(9) - 2) || 1n }))
        return { key, increments, counts: true }
      }
      const write = async () => {
        let isolate: TestIsolate | null = null
        for (let i = 0; i < 30; i++) {
          if (isolate === null || below(20) === 0) {
            await isolate?.settle()
            isolate = new TestIsolate(open(), pruneAtOnce ? { idempotencyHours: NOT_KEPT } : {})
            done.isolates++
          }
          const { key, increments, counts } = request()
          if (counts) for (const { index, by } of increments) ledger.begin(index, by)
          await isolate.count(
            increments.map(({ index, by }) => ({ counter: ledger.counters[index]!, by })),
            key,
          )
          if (counts) for (const { index, by } of increments) ledger.acknowledge(index, by)
        }
        await isolate?.settle()
      }
      const roll = async () => {
        const pageSlots = 1 + below(below(2) ? 20 : 500)
        const lease = below(2) === 0
        const rolled = await rollUp(open(), { pageSlots, maxStatements: 60, maxSeconds: 60, at: new Date(), lease })
        done.moved += rolled.slots
        done.overtaken += rolled.overtaken
      }
      const pruneSome = async () => {
        // Old slots, to which increments with keys will go. In one range after the other: two statements over both shards may each
        // wait for the other one's rows, which no server sees.
        const old = Array.from({ length: pruneAtOnce ? 0 : 50 }, () => {
          return { ...ledger.counters[anyIndex()]!, slot: BigInt(1 + below(KEYS)) }
        })
        for (const part of rowsByRange(old.sort(byPrimaryKey), db.ranges).values()) {
          const values = part.map((row) => `(${counterValues(row)},${row.slot},0,0,1)`)
          await db.execute(
            `INSERT IGNORE INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until) VALUES ${values.join(',')}`,
          )
        }
        done.pruned += (await prune(open(), { pageSlots: 1 + below(200), maxStatements: 20 })).deleted
      }

      const writers = Promise.all(Array.from({ length: ISOLATES }, write))
      const read = () => ledger.checkReading(db)
      const rolls = Array.from({ length: 8 }, () => roll)
      await beside<unknown>(writers, ...rolls, pruneSome, pruneSome, read, read).finally(() => {
        console.log(done, ledger.checked)
        return Promise.allSettled([writers])
      })
      await ledger.checkExactly(db)
      await rollUpAll()
      await ledger.checkExactly(db)
      await expectExact(db)
      // Otherwise no roll-up was beside another one.
      expect(done.overtaken).toBeGreaterThan(0)
      expect([...network.lockErrors], await locks.latestDeadlock()).toEqual([])
    },
  )
})
