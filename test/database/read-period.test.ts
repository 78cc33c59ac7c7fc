import { beforeAll, describe, expect, it } from 'vitest'
import type { Counter } from '../../src/counters/counter.ts'
import { fold } from '../../src/counters/fold.ts'
import { readCounters } from '../../src/counters/read.ts'
import { PERIOD_HOURS, readPeriod } from '../../src/counters/read-period.ts'
import { rollUp } from '../../src/counters/rollup.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const counter = (recordId: bigint): Counter => ({ recordType: 1, recordId, name: null })
const NOW = new Date('2026-11-20T10:30:00Z')

/** The days that the roll-up would have kept beside its hours. */
const addDays = (db: TestDatabase) =>
  db.execute(
    `INSERT INTO counter_periods
     SELECT record_type, record_id, 1, DATE(period_start), SUM(count) FROM counter_history
     GROUP BY record_type, record_id, DATE(period_start)`,
  )

describe('reading a period', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await freshDatabase()
    // Counter 1: 1 in every hour of the last 40 days, and 1,000 in the hours on either side of each period's beginning.
    const hours = Array.from({ length: 40 * 24 }, (_, hours) => {
      const start = new Date(Date.UTC(2026, 10, 20, 10 - hours))
      const outside = Object.values(PERIOD_HOURS).some((period) => hours === period) ? 1_000 : 1
      return `(1, 1, '${start.toISOString().slice(0, 19).replace('T', ' ')}', ${outside})`
    })
    await db.execute(`INSERT INTO counter_history VALUES ${hours.join(', ')}`)
    // Neighbours in the order of the index, and another type's counter of the same id.
    await db.execute(
      `INSERT INTO counter_history VALUES (1, 0, '2026-11-20 10:00:00', 7), (1, 2, '2026-11-20 10:00:00', 7), (2, 1, '2026-11-20 10:00:00', 7)`,
    )
    await addDays(db)
    await db.execute(
      `INSERT INTO slotted_counters VALUES (1, 1, 1, 20, 1, 0, DEFAULT), (1, 1, 2, -3, 1, 0, DEFAULT), (1, 1, 3, 0, 1, 0, DEFAULT),
         (1, 0, 1, 7, 1, 0, DEFAULT), (1, 3, 1, 5, 1, 0, DEFAULT), (2, 1, 1, 7, 1, 0, DEFAULT)`,
    )
  })

  it('adds up the hours that began within it, the present one and what is pending included', async () => {
    expect(await readPeriod(db, counter(1n), 'day', NOW)).toBe(24n + 17n)
    expect(await readPeriod(db, counter(1n), 'week', NOW)).toBe(7n * 24n + 999n + 17n)
    expect(await readPeriod(db, counter(1n), 'month', NOW)).toBe(30n * 24n + 2n * 999n + 17n)
  })

  it('has as many hours at the very beginning and at the very end of one', async () => {
    for (const at of ['2026-11-20T10:00:00.000Z', '2026-11-20T10:59:59.999Z']) {
      expect(await readPeriod(db, counter(1n), 'day', new Date(at))).toBe(24n + 17n)
    }
    // The next hour, in which nothing has been rolled up yet: the oldest is no longer among them.
    expect(await readPeriod(db, counter(1n), 'day', new Date('2026-11-20T11:00:00Z'))).toBe(23n + 17n)
  })

  it('of a counter with history alone, with pending alone, and with neither', async () => {
    expect(await readPeriod(db, counter(2n), 'day', NOW)).toBe(7n)
    expect(await readPeriod(db, counter(3n), 'day', NOW)).toBe(5n)
    expect(await readPeriod(db, counter(99n), 'month', NOW)).toBe(0n)
  })

  it('takes one statement, and reads the hours of its first day, its days, and the slots that hold something', async () => {
    const empty = Array.from({ length: 2_000 }, (_, slot) => `(1, 1, ${100 + slot}, 0, 1, 0, DEFAULT)`)
    await db.execute(`INSERT INTO slotted_counters VALUES ${empty.join(', ')}`)
    for (const [period, hours] of Object.entries(PERIOD_HOURS)) {
      const days = hours / 24
      const statements = await db.recording(() => readPeriod(db, counter(1n), period as 'day', NOW))
      expect(statements).toHaveLength(1)
      expect(statements[0]!.rowsRead).toBeGreaterThanOrEqual(13 + days)
      expect(statements[0]!.rowsRead).toBeLessThan(13 + days + 20)
    }
  })

  it('is not changed by folding with the fewest days that can be set, at any time of the day', async () => {
    const periods = Object.keys(PERIOD_HOURS) as (keyof typeof PERIOD_HOURS)[]
    for (const time of ['00:00:00.000', '10:30:00.000', '23:59:59.999']) {
      const now = new Date(`2026-11-20T${time}Z`)
      const read = () => Promise.all(periods.map((period) => readPeriod(db, counter(1n), period, now)))
      const before = await read()
      const options = { hourDays: 31, pageHours: 1_000, maxStatements: 100, recordTypes: [1], at: now }
      expect(await fold(db, options)).toMatchObject({
        outcome: 'complete',
        deleted: expect.toSatisfy((n) => n > 0 || time !== '00:00:00.000'),
      })
      expect(await read()).toEqual(before)
    }
  })

  it('has what was imported for one of its days', async () => {
    await db.execute(
      `INSERT INTO counter_periods VALUES (1, 5, 1, '2026-10-21', 1000), (1, 5, 1, '2026-10-22', 30), (1, 5, 1, '2026-11-18', 7)`,
    )
    expect(await readPeriod(db, counter(5n), 'day', NOW)).toBe(0n)
    expect(await readPeriod(db, counter(5n), 'week', NOW)).toBe(7n)
    expect(await readPeriod(db, counter(5n), 'month', NOW)).toBe(37n)
  })

  it('is not changed by rolling up, at any moment of it', async () => {
    const own = await freshDatabase()
    await own.execute(`INSERT INTO counter_history VALUES (1, 1, '2026-11-20 09:00:00', 40)`)
    await addDays(own)
    const slots = Array.from({ length: 40 }, (_, slot) => `(1, 1, ${slot}, 1, 1, 0, DEFAULT)`)
    await own.execute(`INSERT INTO slotted_counters VALUES ${slots.join(', ')}`)
    let running = true
    const rolling = rollUp(own, { at: NOW, pageSlots: 3, maxStatements: 500, maxSeconds: 60 }).finally(() => {
      running = false
    })
    const seen = new Set<bigint>()
    let reads = 0
    while (running) {
      seen.add(await readPeriod(own, counter(1n), 'day', NOW))
      reads++
    }
    expect(await rolling).toMatchObject({ outcome: 'complete', moved: 40n })
    expect(reads).toBeGreaterThan(10)
    expect([...seen]).toEqual([80n])
    expect(await readPeriod(own, counter(1n), 'day', NOW)).toBe(80n)
    expect(await readCounters(own, [counter(1n)])).toMatchObject([{ total: 40n, pending: 0n }])
  })
})
