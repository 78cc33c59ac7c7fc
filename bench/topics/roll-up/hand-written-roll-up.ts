import mysql from 'mysql2/promise'
import { bucketOf } from '../../../src/database/buckets.ts'
import type { Deployment } from '../../harness/deployment.ts'

const DEADLOCK = 1213
const TIMEOUT = 1205

const PENDING = 'FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1'
const SUMS = `SELECT record_type, record_id, bucket, SUM(count) AS count ${PENDING} GROUP BY record_type, record_id, bucket`
const MONTH = 'UTC_DATE() - INTERVAL DAYOFMONTH(UTC_DATE()) - 1 DAY'
const HOUR = `CAST(DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:00:00') AS DATETIME)`

// Every counter has a row, with its name.
const TOTALS = `INSERT INTO counters (record_type, record_id, bucket, name, count, version, rolled_up_at)
  SELECT record_type, record_id, bucket, '', SUM(count), 1, UTC_TIMESTAMP(3) ${PENDING} GROUP BY record_type, record_id, bucket
  ON DUPLICATE KEY UPDATE gone_hour = NULL, count = counters.count + VALUES(count), version = counters.version + 1,
    rolled_up_at = VALUES(rolled_up_at)`

// WHERE TRUE, or the parser takes the ON of ON DUPLICATE KEY for the join's.
const HISTORY = [
  `INSERT INTO counter_history (record_type, record_id, bucket, period_start, count)
   SELECT record_type, record_id, bucket, ${HOUR}, SUM(count) ${PENDING} GROUP BY record_type, record_id, bucket
   ON DUPLICATE KEY UPDATE count = counter_history.count + VALUES(count)`,
  `INSERT INTO counter_periods (record_type, record_id, bucket, period, period_start, count)
   SELECT s.record_type, s.record_id, s.bucket, p.period, p.period_start, s.count FROM (${SUMS}) AS s CROSS JOIN
     (SELECT 1 AS period, UTC_DATE() AS period_start UNION ALL SELECT 2, ${MONTH}) AS p WHERE TRUE
   ON DUPLICATE KEY UPDATE count = counter_periods.count + VALUES(count)`,
  `INSERT INTO type_history (record_type, period, period_start, range_lane, bucket, count)
   SELECT s.record_type, p.period, p.period_start, 0, ${bucketOf(0n)}, s.count FROM
     (SELECT record_type, SUM(count) AS count ${PENDING} GROUP BY record_type) AS s CROSS JOIN
     (SELECT 0 AS period, ${HOUR} AS period_start UNION ALL SELECT 1, UTC_DATE() UNION ALL SELECT 2, ${MONTH}) AS p WHERE TRUE
   ON DUPLICATE KEY UPDATE count = type_history.count + VALUES(count)`,
]

const EMPTY = 'UPDATE slotted_counters FORCE INDEX (pending) SET count = 0 WHERE pending = 1'

/**
 * Rolls up as a database administrator would: one transaction over all pending slots, on the server itself. It is exact at
 * REPEATABLE READ because every INSERT … SELECT locks the rows that it reads. Writers wait until the transaction ends.
 *
 * @param over ends retries after a deadlock with writers
 * @returns true if the transaction was committed, false if it was given up
 */
export async function rollUpWithSql(
  { server, database }: Pick<Deployment, 'server' | 'database'>,
  over = () => false,
): Promise<boolean> {
  const statements = [TOTALS, ...HISTORY, EMPTY]
  const connection = await mysql.createConnection({ uri: `${server.url}/${database}`, timezone: 'Z' })
  try {
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    for (;;) {
      try {
        await connection.query('BEGIN')
        for (const statement of statements) await connection.query(statement)
        await connection.query('COMMIT')
        return true
      } catch (error) {
        const { errno } = error as { errno?: number }
        if (errno !== DEADLOCK && errno !== TIMEOUT) throw error
        await connection.query('ROLLBACK')
        if (over()) return false
      }
    }
  } finally {
    await connection.end()
  }
}
