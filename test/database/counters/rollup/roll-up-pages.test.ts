import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { readCounters } from '../../../../src/counters/read/read-counters.ts'
import { leastRollUpStatements, type RollUpOptions, rollUp } from '../../../../src/counters/rollup/roll-up.ts'
import { applyBatch, makeBatch } from '../../../../src/counters/write/apply-batch.ts'
import type { Database } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'

const AT = new Date('2026-11-20T10:59:30.250Z')
const counter = (recordId: bigint, recordType = 1): CounterAddress => ({ recordType, recordId, name: `/${recordId}` })

describe('A roll-up', () => {
  let db: TestDatabase
  const run = (options: Partial<RollUpOptions> = {}, on: Database = db) =>
    rollUp({ db: on, totals: null }, { pageSlots: 100, maxStatements: 1_000, maxSeconds: 60, at: AT, ...options })
  const add = (recordId: bigint, by: bigint, slot = 1n, batch = 1n) =>
    applyBatch(
      db,
      makeBatch(batch, [{ counter: counter(recordId), by }], () => slot),
    )
  const read = async (recordId: bigint) => (await readCounters(db, [counter(recordId)]))[0]!

  beforeEach(async () => {
    db = await freshDatabase()
  })

  it('handles pages that end within a counter', async () => {
    for (let slot = 1n; slot <= 25n; slot++) await add(1n, slot, slot)
    await add(2n, 1n)
    expect(await run({ pageSlots: 10 })).toMatchObject({ outcome: 'complete', moved: 326n, slots: 26, pages: 3 })
    expect(await read(1n)).toMatchObject({ total: 325n, pending: 0n })
  })

  it('leaves a counter that does not fit into a page to the next page', async () => {
    for (let id = 1n; id <= 5n; id++) for (let slot = 1n; slot <= 4n; slot++) await add(id, slot, slot)
    const summary = await run({ pageSlots: 10 })
    expect(summary).toMatchObject({ outcome: 'complete', moved: 50n, counters: 5, slots: 20, pages: 3, overtaken: 0 })
    for (let id = 1n; id <= 5n; id++) expect(await read(id)).toMatchObject({ total: 10n, pending: 0n })
  })

  it('uses small pages until half of its budget is spent, and large pages after a run that did not finish', async () => {
    const fill = async (counters: number) => {
      const rows = Array.from({ length: counters }, (_, id) => `(1, ${id}, 1, 1, 1, 0)`)
      await db.execute(
        `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES ${rows.join(',')}
         ON DUPLICATE KEY UPDATE count = VALUES(count), batch = VALUES(batch)`,
      )
    }
    /** The number of slots in each page of a run. */
    const pagesOf = async (options: Partial<RollUpOptions>) => {
      // The clock stands still, so the database seems near even on a busy machine, and pages are moved one after the other.
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now())
      const statements = await db
        .recording(() => run({ pageSlots: 1_200, ...options }))
        .finally(() => clock.mockRestore())
      const moving = statements.filter(({ sql }) => sql.includes('count = count + VALUES(count)'))
      return moving.filter(({ sql }) => sql.includes('INTO slotted_counters')).map(({ sql }) => sql.split('),').length)
    }
    const small = (pages: number) => Array<number>(pages).fill(1_000)
    await fill(9_000)
    expect(await pagesOf({})).toEqual(small(9))
    await fill(9_000)
    // Each lease needs two statements, an empty range one, and a page of known counters eight. So the eighth page is read after
    // more than half of the budget.
    const before = 3 * db.ranges - 1
    expect(await pagesOf({ maxStatements: 2 * (before + 6 * 8) })).toEqual([...small(7), 1_200, 800])
    await fill(5_000)
    // A small budget means large pages, and so does a backlog of the previous run.
    const threePages = before + 2 * 8 + 10 + db.ranges + 1
    expect(await pagesOf({ maxStatements: threePages })).toEqual([1_200, 1_200, 1_200])
    expect(await pagesOf({})).toEqual([1_200, 200])
    expect(await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')).toBe(0n)
  })

  it('stops at its budget, and the next run continues there', async () => {
    for (let id = 1n; id <= 30n; id++) await add(id, 1n, 1n, id)
    const least = leastRollUpStatements(db.ranges)
    const first = await run({ pageSlots: 10, maxStatements: least })
    expect(first).toMatchObject({ outcome: 'partial', slots: 10, left: 20 })
    expect(first.statements).toBeLessThanOrEqual(least)
    for (let id = 1n; id <= 10n; id++) await add(id, 1n, 1n, 100n + id)
    expect(await run({ pageSlots: 10, maxStatements: least })).toMatchObject({ outcome: 'partial', slots: 10 })
    expect(await read(11n)).toMatchObject({ total: 1n, pending: 0n })
    await run({ pageSlots: 10, maxStatements: least })
    expect(await read(30n)).toMatchObject({ total: 1n, pending: 0n })
    // Back to the beginning, where counters were written again.
    expect(await run({ pageSlots: 10, maxStatements: least + 18 })).toMatchObject({ outcome: 'complete', left: 0 })
    expect(await read(1n)).toMatchObject({ total: 2n, pending: 0n })
  })
})
