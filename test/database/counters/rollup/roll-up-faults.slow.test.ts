import { beforeEach, describe, expect, it } from 'vitest'
import { readRollUpState } from '../../../../src/counters/background-runs.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { countIn, readCounters } from '../../../../src/counters/read/read-counters.ts'
import { type RollUpOptions, rollUp } from '../../../../src/counters/rollup/roll-up.ts'
import { bucketOf } from '../../../../src/database/buckets.ts'
import type { Database } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { countOn } from '../../../harness/moves.ts'

const AT = new Date('2026-11-20T10:59:30.250Z')
const counter = (recordId: bigint, recordType = 1): CounterAddress => ({ recordType, recordId, name: `/${recordId}` })

describe('A roll-up', () => {
  let db: TestDatabase
  const run = (options: Partial<RollUpOptions> = {}, on: Database = db) =>
    rollUp(on, { pageSlots: 100, maxStatements: 1_000, maxSeconds: 60, at: AT, ...options })
  const add = (recordId: bigint, by: bigint, slot = 1n, batch = 1n) => countOn(db, counter(recordId), by, batch, slot)
  const read = async (recordId: bigint) => (await readCounters(db, [counter(recordId)]))[0]!

  beforeEach(async () => {
    db = await freshDatabase()
  })

  it.each(['cut-answer', 'error'] as const)(
    'continues if reading a page fails (%s), and moves everything once',
    async (action) => {
      for (let id = 1n; id <= 9n; id++) await add(id, id, 1n, id)
      await db.behave({ faults: [{ action, errno: 1205, match: 'SELECT s.record_type', skip: 1 }] })
      const summary = await run({ pageSlots: 3 })
      await db.behave()
      expect(summary).toMatchObject({ outcome: 'complete', moved: 45n, counters: 9, pages: 3, left: 0 })
      expect(await db.number('SELECT SUM(count) FROM counters')).toBe(45n)
    },
  )

  it('reads a page again if another run has moved it in the meantime', async () => {
    for (let id = 1n; id <= 9n; id++) await add(id, id, 1n, id)
    // Creates the totals, so that their versions show the conflict.
    await run()
    for (let id = 1n; id <= 9n; id++) await add(id, id, 1n, 100n + id)
    let begun = 0
    let byOther = 0n
    const slow = db.open({
      deadlineMs: 10_000,
      fetch: async (input, init) => {
        if (String(init?.body).includes('"BEGIN"') && ++begun === 2) {
          const other = await run({ lease: false })
          expect(other).toMatchObject({ outcome: 'complete' })
          byOther = other.moved
          for (let id = 7n; id <= 9n; id++) await add(id, 1n, 1n, 200n + id)
        }
        return fetch(input, init)
      },
    })
    // If answers take long, several pages are under way.
    const { outcome, moved, overtaken, left } = await run({ pageSlots: 3 }, slow)
    expect({ outcome, left, moved: byOther + moved }).toEqual({ outcome: 'complete', left: 0, moved: 48n })
    expect(byOther).toBeGreaterThan(0n)
    expect(overtaken).toBeGreaterThan(0)
    expect(await db.number('SELECT SUM(count) FROM counters')).toBe(93n)
    expect(await db.number('SELECT SUM(count) FROM slotted_counters')).toBe(0n)
  })

  it('that fails or stops early does not report to have caught up', async () => {
    await add(1n, 1n)
    await db.behave({ faults: [{ action: 'error', errno: 1213, match: 'INSERT INTO counters', times: 9 }] })
    await expect(run()).rejects.toMatchObject({ kind: 'contention' })
    await db.behave()
    expect(await readRollUpState(db)).toMatchObject({ caughtUpAt: null })
    expect(await db.number('SELECT COUNT(*) FROM rollup_state WHERE holder <> 0')).toBe(0n)
    for (let id = 2n; id <= 30n; id++) await add(id, 1n, 1n, id)
    expect(await run({ pageSlots: 10, maxStatements: 14 })).toMatchObject({ outcome: 'partial' })
    expect(await readRollUpState(db)).toMatchObject({ caughtUpAt: null })
  })

  it('survives deadlocks in the statements around its pages, and never sets its times back', async () => {
    await add(1n, 1n)
    const hiccup = (match: string) => ({ action: 'error' as const, errno: 1213, match })
    await db.behave({ faults: [hiccup('INSERT INTO rollup_state'), hiccup('UPDATE rollup_state')] })
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 1n, left: 0 })
    await add(1n, 1n, 1n, 2n)
    await run({ at: new Date('2026-01-01T00:00:00Z') })
    expect(await readRollUpState(db)).toMatchObject({ caughtUpAt: AT, lastRunAt: AT })
    expect(await db.number('SELECT COUNT(*) FROM rollup_state WHERE holder <> 0')).toBe(0n)
    expect(await read(1n)).toMatchObject({ total: 2n, rolledUpAt: AT })
  })

  it('recreates a slot that was pruned meanwhile with a negative count, so that nothing counts twice', async () => {
    await add(1n, 5n)
    // The slot vanishes after the roll-up has read it.
    let held = true
    const slow = db.open({
      deadlineMs: 10_000,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        const { query = '' } = JSON.parse(String(init?.body ?? '{}')) as { query?: string }
        // Only the page of this counter's range.
        const ofItsRange = db.ranges === 1 || query.includes(`bucket IN (${bucketOf(1n)},`)
        if (held && ofItsRange && query.includes('FORCE INDEX (pending)')) {
          held = false
          await db.arrange('DELETE FROM slotted_counters WHERE record_id = 1')
          await db.insert('totals', '(1, 1, 5, 0, NULL)')
        }
        return response
      },
    })
    await run({}, slow)
    expect(held).toBe(false)
    expect(countIn(await read(1n))).toBe(5n)
  })

  it.each([100, 1])(
    'survives being cut off at any statement, and the next run finishes (pages of %i)',
    async (pageSlots) => {
      let sent = Number.POSITIVE_INFINITY
      for (let after = 0; after < sent; after++) {
        for (const delivered of [false, true]) {
          const before = await db.number('SELECT COALESCE(SUM(count), 0) FROM counters')
          const batch = BigInt(after * 2 + (delivered ? 2 : 1))
          await add(1n, 3n, batch, batch)
          await add(batch + 10n, 4n, 1n, batch)
          // If the answer to the first statement of a transaction is lost, its locks stay until its time is up.
          await db.behave({ transactionMs: 2_000 })
          const cut = db.open({ deadlineMs: 10_000, fetch: cutFetch({ after, delivered, rollback: true }) })
          const ended = await run({ lease: false, pageSlots }, cut).catch(() => null)
          await db.behave()
          const all = await db.number(
            'SELECT (SELECT COALESCE(SUM(count), 0) FROM counters) + (SELECT COALESCE(SUM(count), 0) FROM slotted_counters)',
          )
          expect(all).toBe(before + 7n)
          await run({ lease: false })
          expect(await db.number('SELECT SUM(count) FROM counters')).toBe(before + 7n)
          expect(await db.number('SELECT SUM(count) FROM counter_history')).toBe(before + 7n)
          if (ended !== null && ended.overtaken === 0) sent = Math.min(sent, after)
        }
      }
      expect(sent).toBeGreaterThanOrEqual(9)
    },
  )

  it('that is killed during its transaction blocks others until the database ends it, and no longer', async () => {
    await add(1n, 5n)
    // 20 s on PlanetScale.
    await db.behave({ transactionMs: 4_000 })
    // After lease, state, page, new total, BEGIN, totals, history and slots. Neither COMMIT nor ROLLBACK follows.
    const cut = db.open({ deadlineMs: 10_000, fetch: cutFetch({ after: 8, delivered: false, rollback: false }) })
    await expect(run({ lease: false }, cut)).rejects.toThrow('cut off')
    expect(await read(1n)).toMatchObject({ total: 0n, pending: 5n })
    await db.behave()
    // Waits for the row locks until the endpoint ends the abandoned transaction.
    await add(1n, 2n, 1n, 2n)
    // The lease of the dead run outlasts its transaction. Runs without a lease go on.
    expect(await run()).toMatchObject({ outcome: 'busy' })
    expect(await run({ lease: false })).toMatchObject({ moved: 7n })
    expect(await read(1n)).toMatchObject({ total: 7n, pending: 0n })
  })
})
