import { beforeEach, describe, expect, it } from 'vitest'
import { readRollUpState } from '../../../../src/counters/background-runs.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { boundsOf } from '../../../../src/counters/ranges.ts'
import { readCounters } from '../../../../src/counters/read/read-counters.ts'
import {
  leastRollUpStatements,
  type RollUpOptions,
  readBacklog,
  rollUp,
} from '../../../../src/counters/rollup/roll-up.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { countOn } from '../../../harness/moves.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const AT = new Date('2026-11-20T10:59:30.250Z')
const counter = (recordId: bigint, recordType = 1): CounterAddress => ({ recordType, recordId, name: `/${recordId}` })

describe('A roll-up', () => {
  let db: TestDatabase
  const run = (options: Partial<RollUpOptions> = {}) =>
    rollUp(db, { pageSlots: 100, maxStatements: 1_000, maxSeconds: 60, at: AT, ...options })
  const add = (recordId: bigint, by: bigint, slot = 1n, batch = 1n) => countOn(db, counter(recordId), by, batch, slot)
  const read = async (recordId: bigint) => (await readCounters(db, [counter(recordId)]))[0]!

  beforeEach(async () => {
    db = await freshDatabase()
  })

  it('moves pending counts into the total and the hour of the run, and keeps the batch ids', async () => {
    await add(1n, 5n, 1n, 11n)
    await add(1n, 7n, 2n, 12n)
    await add(2n, -3n, 1n, 13n)
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 9n, counters: 2, slots: 3, pages: 1, left: 0 })
    expect(await read(1n)).toEqual({ total: 12n, pending: 0n, rolledUpAt: AT })
    expect(await read(2n)).toEqual({ total: -3n, pending: 0n, rolledUpAt: AT })
    const { rows } = await db.execute('SELECT record_id, period_start, count FROM counter_history ORDER BY record_id')
    expect(rows).toEqual([
      { record_id: '1', period_start: '2026-11-20 10:00:00', count: '12' },
      { record_id: '2', period_start: '2026-11-20 10:00:00', count: '-3' },
    ])
    await add(1n, 5n, 1n, 11n)
    expect(await read(1n)).toMatchObject({ total: 12n, pending: 0n })
  })

  it('moves slots that cancel each other out', async () => {
    await add(1n, 5n, 1n)
    await add(1n, -5n, 2n)
    await run()
    expect(await read(1n)).toEqual({ total: 0n, pending: 0n, rolledUpAt: AT })
    expect(await readBacklog(db)).toMatchObject({ pending: 0 })
  })

  it('with nothing to do needs four statements for each range and reads few rows', async () => {
    await run()
    const statements = await db.recording(() => run())
    expect(statements).toHaveLength(4 * db.ranges)
    // On Vitess, the endpoint cannot tell.
    if (!onVitess) expect(statements.reduce((sum, { rowsRead }) => sum + rowsRead, 0)).toBeLessThan(10)
  })

  it('adds to the same hour until the next full hour', async () => {
    await add(1n, 1n, 1n, 1n)
    await run()
    await add(1n, 2n, 1n, 2n)
    await run({ at: new Date('2026-11-20T10:59:59.999Z') })
    await add(1n, 4n, 1n, 3n)
    await run({ at: new Date('2026-11-20T11:00:00.000Z') })
    const { rows } = await db.execute('SELECT period_start, count FROM counter_history ORDER BY period_start')
    expect(rows).toEqual([
      { period_start: '2026-11-20 10:00:00', count: '3' },
      { period_start: '2026-11-20 11:00:00', count: '4' },
    ])
  })

  it('respects the lease of another run until it expires', async () => {
    await add(1n, 1n)
    const leases = Array.from({ length: db.ranges }, (_, range) => {
      return `(${boundsOf(range, db.ranges).first}, 77, UTC_TIMESTAMP(3) + INTERVAL 10 SECOND)`
    })
    await db.arrange(`INSERT INTO rollup_state (range_start, holder, leased_until) VALUES ${leases.join()}`)
    expect(await run()).toMatchObject({ outcome: 'busy', moved: 0n, left: null })
    await db.arrange('UPDATE rollup_state SET leased_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND')
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 1n })
    expect(await readRollUpState(db)).toMatchObject({ cursor: null, caughtUpAt: AT, lastRunAt: AT })
    expect(await db.number('SELECT COUNT(*) FROM rollup_state WHERE holder <> 0')).toBe(0n)
  })

  it.each([
    ['was released, whenever it would have ended', 0, '10 SECOND'],
    ['ends later than a run takes, because the clock was set back', 77, '3 HOUR'],
  ])('takes a lease that %s', async (_, holder, later) => {
    await add(1n, 1n)
    await run()
    await db.arrange(`UPDATE rollup_state SET holder = ${holder}, leased_until = UTC_TIMESTAMP(3) + INTERVAL ${later}`)
    await add(1n, 2n, 1n, 2n)
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 2n })
  })

  it('moves a quarter of its page after a run that was killed, so that a page which takes too long does not stop it for good', async () => {
    const least = { pageSlots: 20, maxStatements: leastRollUpStatements(db.ranges) }
    for (let id = 1n; id <= 60n; id++) await add(id, 1n, 1n, id)
    await run(least)
    await db.arrange('UPDATE rollup_state SET holder = 77')
    const killed = await run(least)
    expect(killed).toMatchObject({ outcome: 'partial', slots: 5 })
    expect(await run(least)).toMatchObject({ outcome: 'partial', slots: 20 })
  })

  it('moves everything once if eight runs work on the same slots without a lease', async () => {
    for (let id = 1n; id <= 50n; id++) await add(id, id, id, id)
    const runs = await Promise.all(Array.from({ length: 8 }, () => run({ lease: false, pageSlots: 20 })))
    expect(runs.reduce((sum, { moved }) => sum + moved, 0n)).toBe(1_275n)
    for (let id = 1n; id <= 50n; id++) expect(await read(id)).toMatchObject({ total: id, pending: 0n })
    expect(await db.number('SELECT SUM(count) FROM counter_history')).toBe(1_275n)
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters WHERE count <> 0')).toBe(0n)
  })

  it('skips a counter whose total would leave 64 bits, and reports it', async () => {
    for (let id = 1n; id <= 9n; id++) await add(id, 1n, 1n, id)
    await db.insert('totals', '(1, 5, ?, 1, NULL)', [2n ** 63n - 1n])
    const summary = await run()
    expect(summary).toMatchObject({ outcome: 'complete', moved: 8n, stuck: 1, left: 1 })
    expect(await read(5n)).toMatchObject({ total: 2n ** 63n - 1n, pending: 1n })
    expect(await read(9n)).toMatchObject({ total: 1n, pending: 0n })
  })

  it.each([
    ['the sum of its slots', -(2n ** 63n - 1n), [9n * 10n ** 18n, 9n * 10n ** 18n]],
    ['the negative of one slot', 5n, [-(2n ** 63n)]],
  ])('skips a counter if %s would leave 64 bits, although its total would not', async (_, total, slots) => {
    await db.insert('totals', '(1, 5, ?, 1, NULL)', [total])
    for (const [i, count] of slots.entries()) {
      await db.insert('slotted_counters', '(1, 5, ?, ?, 1, 0)', [i + 1, count])
    }
    for (const id of [4n, 6n]) await add(id, 1n)
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 2n, stuck: 1, left: slots.length })
    expect(await read(5n)).toMatchObject({ total, pending: slots.reduce((sum, count) => sum + count, 0n) })
    expect(await read(6n)).toMatchObject({ total: 1n, pending: 0n })
  })

  it('gives a counter with 40 pages one page before all others have had theirs', async () => {
    const slots = Array.from({ length: 400 }, (_, slot) => `(1, 1, ${slot}, 1, 1, 0)`)
    await add(1n, 1n, 1_000n)
    await db.insert('slotted_counters', slots)
    for (let id = 2n; id <= 21n; id++) await add(id, 1n)
    // Three pages: one of the flooded counter, and two of the others.
    const run3 = { pageSlots: 10, maxStatements: leastRollUpStatements(db.ranges) + 2 * 10 }
    expect(await run(run3)).toMatchObject({ outcome: 'partial', slots: 30 })
    for (let id = 2n; id <= 21n; id++) expect(await read(id)).toMatchObject({ total: 1n, pending: 0n })
    expect(await read(1n)).toMatchObject({ total: 10n, pending: 391n })
    expect(await run({ pageSlots: 10 })).toMatchObject({ outcome: 'complete', moved: 391n, left: 0 })
  })

  it('leaves a counter that does not fit into a page to the next page', async () => {
    for (let id = 1n; id <= 5n; id++) for (let slot = 1n; slot <= 4n; slot++) await add(id, slot, slot)
    const summary = await run({ pageSlots: 10 })
    expect(summary).toMatchObject({ outcome: 'complete', moved: 50n, counters: 5, slots: 20, pages: 3, overtaken: 0 })
    for (let id = 1n; id <= 5n; id++) expect(await read(id)).toMatchObject({ total: 10n, pending: 0n })
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
