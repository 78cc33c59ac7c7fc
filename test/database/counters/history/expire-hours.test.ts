import { beforeEach, describe, expect, it } from 'vitest'
import { historyRange } from '../../../../src/counters/history/history-range.ts'
import { type ExpiryOptions, expireHours } from '../../../../src/counters/old-rows.ts'

import { countPeriods } from '../../../harness/count-periods.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { counterHistory, sumHistory } from '../../../harness/histories.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const AT = new Date('2026-11-20T10:17:00Z')
const HOUR = 3_600_000
/** The beginning of the first day whose hours are kept for 40 days. */
const KEPT_FROM = Date.UTC(2026, 9, 11)

describe('Deleting old hours', () => {
  let db: TestDatabase
  const run = (options: Partial<ExpiryOptions> = {}, on: TestDatabase = db) =>
    expireHours(on, { hourDays: 40, pageHours: 10, maxStatements: 1_000, recordTypes: [1, 2], at: AT, ...options })
  /** Adds 1 to an hour and its periods, as a roll-up does. */
  const count = (at: number, recordIds: readonly bigint[] = [1n], recordType = 1) =>
    countPeriods(
      db,
      recordIds.map((recordId) => ({ recordType, recordId, amount: 1n })),
      new Date(at),
    )
  const hours = () => db.number('SELECT COUNT(*) FROM counter_history')
  const typeHours = () => db.number('SELECT COUNT(*) FROM type_history WHERE period = 0')
  const read = async (by: 'day' | 'month', timeZone = 'UTC') => {
    const range = historyRange({ by, timeZone, from: '2026-08-01', to: '2026-12-01' }, AT)
    const { counts } = await counterHistory(db, { recordType: 1, recordId: 1n, name: '/1' }, range, AT)
    return [counts, await sumHistory(db, { recordType: 1, name: '' }, range)]
  }
  beforeEach(async () => {
    db = await freshDatabase()
  })

  it('deletes the hours of days that ended long enough ago, and no others', async () => {
    for (const at of [-400 * 24, -25, -1, 0, 1, 24]) await count(KEPT_FROM + at * HOUR)
    await count(KEPT_FROM - HOUR, [1n], 2)
    expect(await run()).toMatchObject({ outcome: 'complete', deleted: 8, kept: 0 })
    const { rows } = await db.execute('SELECT period_start FROM counter_history ORDER BY period_start')
    expect(rows.map(({ period_start }) => period_start)).toEqual([
      '2026-10-11 00:00:00',
      '2026-10-11 01:00:00',
      '2026-10-12 00:00:00',
    ])
    expect(await typeHours()).toBe(3n)
    expect(await run()).toMatchObject({ outcome: 'complete', deleted: 0, statements: 2 })
  })

  it('says which budget it stopped at', async () => {
    await count(KEPT_FROM - HOUR)
    const nothing = { outcome: 'partial', deleted: 0, statements: 0 }
    expect(await run({ maxStatements: 1 })).toMatchObject({ ...nothing, stoppedBy: 'statements' })
    expect(await run({ maxSeconds: 0 })).toMatchObject({ ...nothing, stoppedBy: 'seconds' })
    expect(await run({ maxSeconds: 100 })).toMatchObject({ deleted: 2, stoppedBy: null })
  })

  it('never changes a history by day or month in UTC, nor a sum in any time zone', async () => {
    for (let hour = -300; hour < 100; hour += 7) await count(KEPT_FROM + hour * HOUR, [1n, 2n])
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) VALUES (1, 1, 1, '2026-09-01', 50), (1, 1, 2, '2026-09-01', 50)
       ON DUPLICATE KEY UPDATE count = count + 50`,
    )
    const zone = 'America/St_Johns'
    const sums = async () => (await read('day', zone)).map((counts) => counts.reduce((all, one) => all + one, 0n))
    const before = [await read('day'), await read('month'), await sums()]
    let moments = 0
    const watched: TestDatabase = {
      ...db,
      async execute(sql, args) {
        const result = await db.execute(sql, args)
        if (sql.startsWith('DELETE')) {
          moments++
          expect([await read('day'), await read('month'), await sums()]).toEqual(before)
        }
        return result
      },
    }
    expect(await run({}, watched)).toMatchObject({ outcome: 'complete', deleted: 3 * 43 })
    expect(moments).toBeGreaterThan(10)
  })

  it('works in pages from the oldest hour, stops at its budget, and reads no hour twice', async () => {
    const recordIds = Array.from({ length: 30 }, (_, id) => BigInt(id))
    for (const days of [3, 2, 1]) await count(KEPT_FROM - days * 24 * HOUR, recordIds)
    expect(await run({ maxStatements: 6 + db.ranges })).toMatchObject({
      outcome: 'partial',
      deleted: 30,
      statements: 6,
    })
    expect(await db.number('SELECT COUNT(*) FROM counter_history WHERE period_start < ?', ['2026-10-09'])).toBe(0n)
    const statements = await db.recording(async () => {
      expect(await run()).toMatchObject({ outcome: 'complete', deleted: 60 + 3 })
    })
    const read = statements
      .filter(({ sql }) => sql.startsWith('SELECT'))
      .reduce((sum, { rowsRead }) => sum + rowsRead, 0)
    // Each hour, its day, and the beginning of each page. On Vitess, the endpoint cannot tell.
    if (!onVitess) expect(read).toBeLessThan(2 * 63 + 6 * statements.length)
  })

  it.skipIf(onVitess)('reads only the hours of a page, also with record ids below and above 2^63', async () => {
    const recordIds = Array.from({ length: 500 }, (_, id) => BigInt(id) + (id % 2 === 0 ? 0n : 2n ** 63n))
    for (const hour of [-2, -1, 0]) await count(KEPT_FROM + hour * HOUR, recordIds)
    // Statistics of all pages, which the server does not renew while the rows go: its choice of an index depends on them.
    await db.execute('ALTER TABLE counter_history STATS_AUTO_RECALC = 0, STATS_SAMPLE_PAGES = 1000')
    await db.execute('ANALYZE TABLE counter_history')
    const statements = await db.recording(async () => {
      expect(await run({ pageHours: 60 })).toMatchObject({ outcome: 'complete', deleted: 2 * (500 + 1) })
    })
    const deletes = statements.filter(({ sql }) => sql.startsWith('DELETE FROM counter_history'))
    expect(deletes.length).toBe(17)
    for (const { rowsRead } of deletes) expect(rowsRead).toBeLessThan(4 * 60)
  })

  it('keeps hours whose day is missing, reports them, and continues after them', async () => {
    for (let id = 0n; id < 25n; id++) await count(KEPT_FROM - 24 * HOUR, [id])
    await db.arrange('DELETE FROM counter_periods WHERE period = 1 AND record_id < 15')
    await db.arrange('DELETE FROM type_history WHERE period = 1')
    expect(await run()).toMatchObject({ outcome: 'complete', deleted: 10, kept: 16 })
    expect([await hours(), await typeHours()]).toEqual([15n, 1n])
  })

  it('several times at once, and cut off, deletes the same hours', async () => {
    for (let id = 0n; id < 40n; id++) await count(KEPT_FROM - 24 * HOUR, [id, id + 100n])
    await count(KEPT_FROM, [1n])
    await db.behave({ faults: [{ action: 'cut-answer', match: '^DELETE', skip: 1, times: 5 }] })
    const runs = await Promise.allSettled([run(), run(), run()])
    expect(runs.length).toBe(3)
    await db.behave()
    expect(await run()).toMatchObject({ outcome: 'complete' })
    expect([await hours(), await typeHours()]).toEqual([1n, 1n])
    expect(await db.number('SELECT SUM(count) FROM counter_periods WHERE period = 1')).toBe(81n)
  })
})
