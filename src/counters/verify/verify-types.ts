import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, DAY_MS, dayText, HOUR_MS, timeText } from '../calendar.ts'
import { confirmMismatches, firstDayWithHours, type HourRule, MAX_WRONG, type Mismatch } from './mismatch.ts'

interface PeriodPage {
  wrong: Mismatch[]
  next: string | null
}

/** Earlier and later than any period. */
const [FIRST, LAST] = ['1000-01-01', '9999-12-31']

/**
 * Checks the days of a type against those of its counters. A day is never split between pages, because only one statement reads
 * from one snapshot. vtgate sends the statement whole to each shard and adds up the results. A roll-up changes both sides of a
 * shard's sums in one transaction, so it does not matter when each shard is read. To that end, parts of the union must not be
 * grouped.
 * @param start the day to begin with; empty for the first day
 * @param rows the number of rows after which the page ends, at the end of a day
 */
export async function verifyTypeDays(
  db: Executor,
  recordType: number,
  start: string,
  rows: number,
): Promise<PeriodPage> {
  const begin = start || FIRST
  const index = 'FROM counter_periods FORCE INDEX (ranking) WHERE record_type = ? AND period = 1 AND period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [recordType, begin], rows)
  const read = () =>
    db.execute(
      `SELECT 'day' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         SELECT period_start AS start, count AS recorded, 0 AS expected FROM type_history
           WHERE record_type = ? AND period = 1 AND period_start BETWEEN ? AND ?
         UNION ALL SELECT period_start, 0, count ${index} BETWEEN ? AND ?
       ) AS parts GROUP BY start HAVING SUM(recorded) <> SUM(expected) ORDER BY start LIMIT ${MAX_WRONG}`,
      [recordType, begin, last, recordType, begin, last],
    )
  return { wrong: await confirmMismatches(read, recordType), next }
}

/**
 * Checks the hours of all types against those of their counters, for days whose hours are kept.
 * @param start the hour to begin with; empty for the first hour
 * @param rows the number of rows after which the page ends, at the end of an hour
 */
export async function verifyTypeHours(db: Executor, rule: HourRule, start: string, rows: number): Promise<PeriodPage> {
  const begin = start || (await firstDayWithHours(db, rule))
  const index = 'FROM counter_history FORCE INDEX (period_start) WHERE period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [begin], rows)
  const read = async () => {
    // Read again each time: a type that is too new for the first list is in the second one.
    const known = await db.execute('SELECT DISTINCT record_type FROM type_history WHERE record_type >= 0')
    const types = known.rows.map((row) => Number(row.record_type))
    const kept = await firstDayWithHours(db, rule)
    const range = [begin > kept ? begin : kept, last]
    return db.execute(
      `SELECT record_type, 'hour' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         ${types
           .map(
             () => `SELECT record_type, period_start AS start, count AS recorded, 0 AS expected FROM type_history
                    WHERE record_type = ? AND period = 0 AND period_start BETWEEN ? AND ? UNION ALL `,
           )
           .join('')}
         SELECT record_type, period_start AS start, 0 AS recorded, count AS expected ${index} BETWEEN ? AND ?
       ) AS parts GROUP BY record_type, start HAVING SUM(recorded) <> SUM(expected)
       ORDER BY record_type, start LIMIT ${MAX_WRONG}`,
      [...types.flatMap((recordType) => [recordType, ...range]), ...range],
    )
  }
  return { wrong: await confirmMismatches(read), next }
}

/** The last period of a page, by the number of rows, and the first one of the next page. */
async function findPeriods(
  db: Executor,
  from: string,
  args: readonly unknown[],
  maxRows: number,
): Promise<{ last: string; next: string | null }> {
  const { rows } = await db.execute(
    `SELECT MAX(period_start) AS last, COUNT(*) AS found FROM (
       SELECT period_start ${from} ORDER BY period_start LIMIT ?) AS parts`,
    [...args, maxRows],
  )
  if (Number(toBigInt(rows[0]?.found)) < maxRows) return { last: LAST, next: null }
  const last = String(rows[0]?.last)
  // The next day or hour: there is nothing in between.
  const start = Date.parse(`${last.slice(0, 10)}T${last.slice(11, 19) || '00:00:00'}Z`)
  return { last, next: last.length > 10 ? timeText(start + HOUR_MS) : dayText(start + DAY_MS) }
}

/** Checks the weeks and months of a type against its days, and its adjustments against those of its counters. */
export async function verifyTypeCalendar(db: Executor, recordType: number): Promise<Mismatch[]> {
  const history = `FROM type_history WHERE record_type = ${recordType} AND period =`
  const read = () =>
    db.execute(
      `SELECT what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         SELECT 'week' AS what, period_start AS start, count AS recorded, 0 AS expected ${history} 2
         UNION ALL SELECT 'week', period_start - INTERVAL WEEKDAY(period_start) DAY, 0, count ${history} 1
         UNION ALL SELECT 'month', period_start, count, 0 ${history} 3
         UNION ALL SELECT 'month', period_start - INTERVAL DAYOFMONTH(period_start) - 1 DAY, 0, count ${history} 1
         UNION ALL SELECT 'adjustments', NULL, count, 0 ${history} ${ADJUSTMENTS_SUM}
         UNION ALL SELECT 'adjustments', NULL, 0, count FROM counter_adjustments FORCE INDEX (PRIMARY)
           WHERE record_type = ${recordType}
       ) AS parts GROUP BY what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY what, start LIMIT ${MAX_WRONG}`,
    )
  return confirmMismatches(read, recordType)
}
