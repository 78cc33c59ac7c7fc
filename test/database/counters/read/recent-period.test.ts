import { beforeAll, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { expireHours } from '../../../../src/counters/old-rows.ts'
import {
  RECENT_PERIOD_HOURS,
  type RecentPeriod,
  readCounters,
  readRecentPeriod,
} from '../../../../src/counters/read/read-counters.ts'
import type { Executor } from '../../../../src/database/database.ts'
import { beside } from '../../../harness/beside.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { rollUpAt } from '../../../harness/moves.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const counter = (recordId: bigint): CounterAddress => ({ recordType: 1, recordId, name: `/${recordId}` })
const NOW = new Date('2026-11-20T10:30:00Z')

const periodOf = async (db: Executor, of: CounterAddress, period: RecentPeriod, now: Date): Promise<bigint> =>
  (await readRecentPeriod(db, [of], period, now))[0]!

/** Adds the days that a roll-up would have written with these hours. */
const addDays = (db: TestDatabase) =>
  db.arrange(
    `INSERT INTO counter_periods (record_type, record_id, period, period_start, count)
     SELECT record_type, record_id, 1, DATE(period_start), SUM(count) FROM counter_history
     GROUP BY record_type, record_id, DATE(period_start)`,
  )

describe('A recent period', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await freshDatabase()
    // Counter 1: 1 in every hour of the last 40 days, and 1,000 in the hours on either side of each period's beginning.
    const hours = Array.from({ length: 40 * 24 }, (_, hours) => {
      const start = new Date(Date.UTC(2026, 10, 20, 10 - hours))
      const outside = Object.values(RECENT_PERIOD_HOURS).some((period) => hours === period) ? 1_000 : 1
      return `(1, 1, '${start.toISOString().slice(0, 19).replace('T', ' ')}', ${outside})`
    })
    await db.insert('counter_history', hours)
    // Neighbours in the order of the index, and another type's counter of the same id.
    await db.insert(
      'counter_history',
      `(1, 0, '2026-11-20 10:00:00', 7), (1, 2, '2026-11-20 10:00:00', 7), (2, 1, '2026-11-20 10:00:00', 7)`,
    )
    await addDays(db)
    await db.insert('names', `(1, 0, '/0'), (1, 1, '/1'), (1, 2, '/2'), (1, 3, '/3'), (2, 1, '/1')`)
    await db.insert(
      'slotted_counters',
      '(1, 1, 1, 20, 1, 0), (1, 1, 2, -3, 1, 0), (1, 1, 3, 0, 1, 0), (1, 0, 1, 7, 1, 0), (1, 3, 1, 5, 1, 0), (2, 1, 1, 7, 1, 0)',
    )
  })

  it('sums the hours that began within it, the current hour and pending counts included', async () => {
    expect(await periodOf(db, counter(1n), 'day', NOW)).toBe(24n + 17n)
    expect(await periodOf(db, counter(1n), 'week', NOW)).toBe(7n * 24n + 999n + 17n)
    expect(await periodOf(db, counter(1n), 'month', NOW)).toBe(30n * 24n + 2n * 999n + 17n)
  })

  it('has the same hours from the beginning to the end of the current hour', async () => {
    for (const at of ['2026-11-20T10:00:00.000Z', '2026-11-20T10:59:59.999Z']) {
      expect(await periodOf(db, counter(1n), 'day', new Date(at))).toBe(24n + 17n)
    }
    // In the next hour, in which nothing has been rolled up, the oldest hour drops out.
    expect(await periodOf(db, counter(1n), 'day', new Date('2026-11-20T11:00:00Z'))).toBe(23n + 17n)
  })

  it('may have only history, only pending counts, or neither', async () => {
    expect(await periodOf(db, counter(2n), 'day', NOW)).toBe(7n)
    expect(await periodOf(db, counter(3n), 'day', NOW)).toBe(5n)
    expect(await periodOf(db, counter(99n), 'month', NOW)).toBe(0n)
  })

  it('reads several counters with one statement, in the order given', async () => {
    const statements = await db.recording(async () => {
      const counts = await readRecentPeriod(db, [counter(3n), counter(1n), counter(99n), counter(2n)], 'day', NOW)
      expect(counts).toEqual([5n, 24n + 17n, 0n, 7n])
    })
    expect(statements).toHaveLength(1)
  })

  it('needs one statement, which reads the hours of its first day, its days, and the slots that are not empty', async () => {
    const empty = Array.from({ length: 2_000 }, (_, slot) => `(1, 1, ${100 + slot}, 0, 1, 0)`)
    await db.insert('slotted_counters', empty)
    for (const [period, hours] of Object.entries(RECENT_PERIOD_HOURS)) {
      const days = hours / 24
      const statements = await db.recording(() => periodOf(db, counter(1n), period as 'day', NOW))
      expect(statements).toHaveLength(1)
      if (onVitess) continue // The endpoint cannot tell how many rows a server has read.
      expect(statements[0]!.rowsRead).toBeGreaterThanOrEqual(13 + days)
      expect(statements[0]!.rowsRead).toBeLessThan(13 + days + 20)
    }
  })

  it('is not changed by deleting old hours, with the smallest possible setting, at any time of day', async () => {
    const periods = Object.keys(RECENT_PERIOD_HOURS) as (keyof typeof RECENT_PERIOD_HOURS)[]
    for (const time of ['00:00:00.000', '10:30:00.000', '23:59:59.999']) {
      const now = new Date(`2026-11-20T${time}Z`)
      const read = () => Promise.all(periods.map((period) => periodOf(db, counter(1n), period, now)))
      const before = await read()
      const options = { hourDays: 31, pageHours: 1_000, maxStatements: 100, recordTypes: [1], at: now }
      expect(await expireHours(db, options)).toMatchObject({
        outcome: 'complete',
        deleted: expect.toSatisfy((n) => n > 0 || time !== '00:00:00.000'),
      })
      expect(await read()).toEqual(before)
    }
  })

  it('includes what was imported for one of its days', async () => {
    await db.insert(
      'counter_periods',
      `(1, 5, 1, '2026-10-21', 1000), (1, 5, 1, '2026-10-22', 30), (1, 5, 1, '2026-11-18', 7)`,
    )
    expect(await periodOf(db, counter(5n), 'day', NOW)).toBe(0n)
    expect(await periodOf(db, counter(5n), 'week', NOW)).toBe(7n)
    expect(await periodOf(db, counter(5n), 'month', NOW)).toBe(37n)
  })

  it('never changes during a roll-up', async () => {
    const own = await freshDatabase()
    await own.insert('counter_history', `(1, 1, '2026-11-20 09:00:00', 40)`)
    await addDays(own)
    await own.insert('names', `(1, 1, '/1')`)
    const slots = Array.from({ length: 40 }, (_, slot) => `(1, 1, ${slot}, 1, 1, 0)`)
    await own.insert('slotted_counters', slots)
    const seen = new Set<bigint>()
    let reads = 0
    const rolled = await beside(rollUpAt(own, NOW, { pageSlots: 3, lease: true }), async () => {
      seen.add(await periodOf(own, counter(1n), 'day', NOW))
      reads++
    })
    expect(rolled).toMatchObject({ outcome: 'complete', moved: 40n })
    expect(reads).toBeGreaterThan(10)
    expect([...seen]).toEqual([80n])
    expect(await periodOf(own, counter(1n), 'day', NOW)).toBe(80n)
    expect(await readCounters(own, [counter(1n)])).toMatchObject([{ total: 40n, pending: 0n }])
  })
})
