import { beforeAll, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { MAX_PUBLIC_PENDING } from '../../../../src/counters/counters-sql.ts'
import {
  RECENT_DAYS,
  type RecentPeriod,
  readCounters,
  recentDays,
} from '../../../../src/counters/read/read-counters.ts'
import type { Executor } from '../../../../src/database/database.ts'
import { beside } from '../../../harness/beside.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { rollUpAt } from '../../../harness/moves.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const counter = (recordId: bigint): CounterAddress => ({ recordType: 1, recordId, name: `/${recordId}` })
const NOW = new Date('2026-11-20T10:30:00Z')

/** What was counted in a period, rolled up or not. */
const periodsOf = async (db: Executor, counters: CounterAddress[], period: RecentPeriod, now: Date) => {
  const readings = await readCounters(db, counters, MAX_PUBLIC_PENDING, recentDays(period, now))
  return readings.map(({ total, pending }) => total + pending!)
}
const periodOf = async (db: Executor, of: CounterAddress, period: RecentPeriod, now: Date): Promise<bigint> =>
  (await periodsOf(db, [of], period, now))[0]!

const dayOf = (daysAgo: number) => new Date(Date.UTC(2026, 10, 20 - daysAgo)).toISOString().slice(0, 10)

describe('A recent period', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await freshDatabase()
    // Counter 1: 1 on each of 40 days, and 1,000 on the day before each period.
    const before = Object.values(RECENT_DAYS) as number[]
    const days = Array.from(
      { length: 40 },
      (_, ago) => `(1, 1, 1, '${dayOf(ago)}', ${before.includes(ago) ? 1_000 : 1})`,
    )
    await db.insert('counter_periods', days)
    // Neighbours in the order of the index, and another type's counter of the same id.
    const today = dayOf(0)
    await db.insert('counter_periods', `(1, 0, 1, '${today}', 7), (1, 2, 1, '${today}', 7), (2, 1, 1, '${today}', 7)`)
    await db.insert('names', `(1, 0, '/0'), (1, 1, '/1'), (1, 2, '/2'), (1, 3, '/3'), (1, 6, '/6'), (2, 1, '/1')`)
    await db.insert(
      'slotted_counters',
      '(1, 1, 1, 20, 1, 0), (1, 1, 2, -3, 1, 0), (1, 1, 3, 0, 1, 0), (1, 0, 1, 7, 1, 0), (1, 3, 1, 5, 1, 0), (2, 1, 1, 7, 1, 0)',
    )
  })

  it('is today in UTC and the days before it, pending counts included', async () => {
    expect(await periodOf(db, counter(1n), 'day', NOW)).toBe(1n + 17n)
    expect(await periodOf(db, counter(1n), 'week', NOW)).toBe(7n + 999n + 17n)
    expect(await periodOf(db, counter(1n), 'month', NOW)).toBe(30n + 2n * 999n + 17n)
  })

  it('is the same from midnight to midnight', async () => {
    for (const at of ['2026-11-20T00:00:00.000Z', '2026-11-20T23:59:59.999Z']) {
      expect(await periodOf(db, counter(1n), 'week', new Date(at))).toBe(7n + 999n + 17n)
    }
    // Nothing of the next day was rolled up yet. What is pending belongs to it.
    const next = new Date('2026-11-21T00:00:00Z')
    expect(await periodOf(db, counter(1n), 'day', next)).toBe(17n)
    expect(await periodOf(db, counter(1n), 'week', next)).toBe(6n + 999n + 17n)
  })

  it('reads a whole month in it as one', async () => {
    const rows = `(1, 6, 2, '2026-02-01', 280), (1, 6, 1, '2026-03-01', 1), (1, 6, 1, '2026-03-02', 1)`
    await db.insert('counter_periods', rows)
    expect(await periodOf(db, counter(6n), 'month', new Date('2026-03-02T12:00:00Z'))).toBe(282n)
  })

  it('may have only history, only pending counts, or neither', async () => {
    expect(await periodOf(db, counter(2n), 'day', NOW)).toBe(7n)
    expect(await periodOf(db, counter(3n), 'day', NOW)).toBe(5n)
    expect(await periodOf(db, counter(99n), 'month', NOW)).toBe(0n)
  })

  it('reads several counters with one statement, in the order given', async () => {
    const statements = await db.recording(async () => {
      const counts = await periodsOf(db, [counter(3n), counter(1n), counter(99n), counter(2n)], 'day', NOW)
      expect(counts).toEqual([5n, 18n, 0n, 7n])
    })
    expect(statements).toHaveLength(1)
  })

  it('needs one statement, which reads its days and the slots that are not empty', async () => {
    const empty = Array.from({ length: 2_000 }, (_, slot) => `(1, 1, ${100 + slot}, 0, 1, 0)`)
    await db.insert('slotted_counters', empty)
    for (const [period, days] of Object.entries(RECENT_DAYS)) {
      for (const counters of [[counter(1n)], [counter(1n), counter(99n)]]) {
        const statements = await db.recording(() => periodsOf(db, counters, period as 'day', NOW))
        expect(statements).toHaveLength(1)
        if (onVitess) continue // The endpoint cannot tell how many rows a server has read.
        expect(statements[0]!.rowsRead).toBeGreaterThanOrEqual(days)
        expect(statements[0]!.rowsRead).toBeLessThan(days + 100)
      }
    }
  })

  it('never changes during a roll-up', async () => {
    const own = await freshDatabase()
    await own.insert('counter_periods', `(1, 1, 1, '2026-11-20', 40)`)
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
