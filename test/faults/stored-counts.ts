import { expect } from 'vitest'
import { counterId } from '../../src/counters/counter-address.ts'
import type { Database, Executor } from '../../src/database/database.ts'
import { toBigInt } from '../../src/database/values.ts'
import { verifyAll } from '../harness/verify-all.ts'

/** All that the database stores about a counter. */
interface StoredCount {
  count: bigint
  pending: bigint
  /** The sums of its hours, days and months, each with the adjustments added. */
  histories: bigint[]
}

/** Reads all counters from one snapshot, by id. Does not use the product's own reader, which is under test. */
export async function readStoredCounts(db: Executor): Promise<Map<string, StoredCount>> {
  const { rows } = await db.execute(
    `SELECT record_type, record_id, SUM(total) AS total, SUM(pending) AS pending,
       SUM(hours) AS hours, SUM(days) AS days, SUM(months) AS months FROM (
       SELECT record_type, record_id, count AS total, 0 AS pending, 0 AS hours, 0 AS days, 0 AS months
         FROM counters
       UNION ALL SELECT record_type, record_id, 0, count, 0, 0, 0 FROM slotted_counters
       UNION ALL SELECT record_type, record_id, 0, 0, count, 0, 0 FROM counter_history
       UNION ALL SELECT record_type, record_id, 0, 0, 0, IF(period = 1, count, 0), IF(period = 2, count, 0)
         FROM counter_periods
       UNION ALL SELECT record_type, record_id, 0, 0, count, count, count FROM counter_adjustments) AS parts
     GROUP BY record_type, record_id`,
  )
  const counts = rows.map((row): [string, StoredCount] => {
    const pending = toBigInt(row.pending)
    const histories = [row.hours, row.days, row.months].map(toBigInt)
    const stored = { count: toBigInt(row.total) + pending, pending, histories }
    return [counterId({ recordType: Number(row.record_type), recordId: toBigInt(row.record_id) }), stored]
  })
  return new Map(counts)
}

/**
 * Checks that nothing is pending, and that each total equals the sum of its hours, days and months.
 *
 * @param hourDays days for which hours are kept; then only the operators' own check looks at hours. Default: all are kept.
 */
export async function checkRolledUp(db: Database, hourDays?: number): Promise<void> {
  for (const [id, stored] of await readStoredCounts(db)) {
    const { pending, count } = stored
    const histories = stored.histories.slice(hourDays === undefined ? 0 : 1)
    expect({ id, pending, histories }).toEqual({ id, pending: 0n, histories: histories.map(() => count) })
  }
  const { rows } = await db.execute(
    `SELECT s.record_id FROM slotted_counters AS s LEFT JOIN counters AS c
     ON c.record_type = s.record_type AND c.record_id = s.record_id AND c.bucket = s.bucket
     WHERE s.pending = 1 AND c.name IS NULL`,
  )
  // A counter that counts has a name.
  expect(rows).toEqual([])
  // The operators' own check must agree.
  expect((await verifyAll(db, hourDays === undefined ? {} : { hourDays })).wrong).toEqual([])
}
