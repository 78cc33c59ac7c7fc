import { expect } from 'vitest'
import { readTotal, totalOf } from '../../src/counters/history/read-total.ts'
import { hash64 } from '../../src/counters/keys/key-hash.ts'
import { beginsWithSql } from '../../src/counters/prefix-builds.ts'
import type { Database } from '../../src/database/database.ts'
import { toBigInt } from '../../src/database/numbers.ts'

/** The exact total of type 1, or of a prefix of its keys; `null` while it is not complete. */
export async function exactTotal(db: Database, prefix: string | null = null): Promise<bigint | null> {
  const total = await totalOf(1, prefix)
  const reading = await readTotal(db, total, { consistency: 'exact', period: null, ranges: db.ranges })
  expect(reading.pending).not.toBeNull()
  return reading.complete ? reading.total + reading.pending! : null
}

/**
 * Checks every sum of type 1 that is kept of a prefix, or of the type, against the rows of the counters. Call it only when nothing
 * is in flight.
 */
export async function expectSums(db: Database, prefix: string | null): Promise<void> {
  const hash = prefix === null ? null : await hash64(prefix)
  const named =
    prefix === null
      ? ''
      : `JOIN counter_names AS n ON n.record_type = c.record_type AND n.record_id = c.record_id AND ${beginsWithSql('n.name', prefix)}`
  const kept = hash === null ? 'type_history WHERE period < 5 AND' : `prefix_history WHERE prefix_hash = ${hash} AND`
  const { rows: is } = await db.execute(
    `SELECT period, CAST(period_start AS CHAR) AS start, SUM(count) AS count FROM ${kept} record_type = 1 GROUP BY period, period_start`,
  )
  const { rows: hours } = await db.execute(
    `SELECT 0 AS period, CAST(period_start AS CHAR) AS start, SUM(c.count) AS count FROM counter_history AS c ${named}
     WHERE c.record_type = 1 GROUP BY period_start`,
  )
  const { rows: periods } = await db.execute(
    `SELECT period, CAST(period_start AS CHAR) AS start, SUM(c.count) AS count FROM counter_periods AS c ${named}
     WHERE c.record_type = 1 GROUP BY period, period_start`,
  )
  const { rows: adjustments } = await db.execute(
    `SELECT 4 AS period, '1970-01-01' AS start, SUM(c.count) AS count FROM counter_adjustments AS c ${named}
     WHERE c.record_type = 1`,
  )
  const sums = (rows: Record<string, unknown>[]) => {
    const entries = rows.map(({ period, start, count }): [string, bigint] => [
      `${Number(period)} ${String(start).slice(0, Number(period) === 0 ? 13 : 10)}`,
      count === null ? 0n : toBigInt(count),
    ])
    return Object.fromEntries(entries.filter(([, count]) => count !== 0n).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  expect({ prefix, ...sums(is) }).toEqual({ prefix, ...sums([...hours, ...periods, ...adjustments]) })
  const { rows: counts } = await db.execute(
    `SELECT SUM(c.count) AS count FROM counter_totals AS c ${named} WHERE c.record_type = 1
     UNION ALL SELECT SUM(c.count) FROM slotted_counters AS c ${named} WHERE c.record_type = 1`,
  )
  const expected = counts.reduce((sum, { count }) => sum + (count === null ? 0n : toBigInt(count)), 0n)
  expect([prefix, await exactTotal(db, prefix)]).toEqual([prefix, expected])
}
