import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { LARGEST_ID } from '../ranges.ts'
import { confirmMismatches, firstDayWithHours, type HourRule, MAX_WRONG, type Mismatch } from './mismatch.ts'

interface CounterPage extends HourRule {
  recordType: number
  recordId: bigint
  limit: number
  /** The most rows of each table, unless a single counter has more. */
  rows: number
}

/** The first record type, from a number on, that has anything to check; `null` if there is none. */
export async function nextRecordType(db: Executor, recordType: number): Promise<number | null> {
  const tables = ['counter_totals', 'counter_periods', 'counter_history', 'counter_adjustments', 'type_history']
  const selects = tables.map((table) => `SELECT MIN(record_type) AS record_type FROM ${table} WHERE record_type >= ?`)
  const { rows } = await db.execute(
    `SELECT MIN(record_type) AS record_type FROM (${selects.join(' UNION ALL ')}) AS types`,
    Array(tables.length).fill(recordType),
  )
  const first = rows[0]?.record_type ?? null
  return first === null ? null : Number(first)
}

/**
 * Checks counters of one type, in the order of their ids.
 * @returns `next`: where the next page of the type begins; `null` if there is none
 */
export async function verifyCounters(
  db: Executor,
  page: CounterPage,
): Promise<{ checked: number; wrong: Mismatch[]; next: { recordType: number; recordId: bigint } | null }> {
  const { checked, last } = await findCounters(db, page)
  const read = async () => {
    const from = await firstDayWithHours(db, page)
    return compare(db, { ...page, last, from })
  }
  const wrong = checked === 0 ? [] : await confirmMismatches(read, page.recordType)
  const next = last === LARGEST_ID ? null : { recordType: page.recordType, recordId: last + 1n }
  return { checked, wrong, next }
}

async function findCounters(
  db: Executor,
  { recordType, recordId, limit, rows: maxRows }: CounterPage,
): Promise<{ checked: number; last: bigint }> {
  const tables = ['counter_totals', 'counter_adjustments', 'counter_periods', 'counter_history']
  const { rows } = await db.execute(
    tables
      .map(
        (table, index) =>
          // The inner limit bounds what is read, the outer one what is returned.
          `(SELECT ${index} AS part, record_id, COUNT(*) AS found FROM (
             SELECT record_id FROM ${table} FORCE INDEX (PRIMARY) WHERE record_type = ? AND record_id >= ?
             ORDER BY record_id LIMIT ?) AS part_${index}
           GROUP BY record_id ORDER BY record_id LIMIT ?)`,
      )
      .join(' UNION ALL '),
    // A counter has only one total.
    tables.flatMap((table) => [recordType, recordId, table === 'counter_totals' ? limit : maxRows, limit]),
  )
  const parts = tables.map(() => ({ ids: [] as bigint[], found: 0 }))
  for (const row of rows) {
    const part = parts[Number(row.part)]!
    part.ids.push(toBigInt(row.record_id))
    part.found += Number(toBigInt(row.found))
  }
  let last = LARGEST_ID
  const reachTo = (id: bigint | undefined) => {
    if (id !== undefined && id < last) last = id
  }
  for (const { ids, found } of parts) {
    // The last counter may have more rows than were read, so it is left to the next page, unless it is the only one.
    if (found >= maxRows) reachTo(ids.at(-2) ?? ids.at(-1))
  }
  const ids = [...new Set(parts.flatMap((part) => part.ids))].sort((a, b) => (a < b ? -1 : 1))
  reachTo(ids[limit - 1])
  return { checked: ids.filter((id) => id <= last).length, last }
}

async function compare(
  db: Executor,
  { recordType, recordId, last, from }: CounterPage & { last: bigint; from: string },
) {
  const range = `record_type = ${recordType} AND record_id >= ${recordId} AND record_id <= ${last}`
  const periods = `FROM counter_periods FORCE INDEX (PRIMARY) WHERE ${range} AND period =`
  // An import adds to days but not to hours, and only to days up to that on which it was made.
  const imported = `LEFT JOIN (SELECT record_id AS imported_id, DATE(MAX(adjusted_at)) AS imported_on
      FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${range} AND kind = 2 GROUP BY record_id) AS i ON imported_id = record_id`
  return db.execute(
    `SELECT record_id, what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
       SELECT record_id, 'total' AS what, CAST(NULL AS DATE) AS start, count AS recorded, 0 AS expected
         FROM counter_totals FORCE INDEX (PRIMARY) WHERE ${range}
       UNION ALL SELECT record_id, 'total', NULL, 0, SUM(count) FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${range}
         GROUP BY record_id
       UNION ALL SELECT record_id, 'total', NULL, 0, SUM(count) ${periods} 1 GROUP BY record_id
       UNION ALL SELECT record_id, 'week', period_start, count, 0 ${periods} 2
       UNION ALL SELECT record_id, 'week', period_start - INTERVAL WEEKDAY(period_start) DAY, 0, count ${periods} 1
       UNION ALL SELECT record_id, 'month', period_start, count, 0 ${periods} 3
       UNION ALL SELECT record_id, 'month', period_start - INTERVAL DAYOFMONTH(period_start) - 1 DAY, 0, count ${periods} 1
       UNION ALL SELECT record_id, 'hours', period_start, 0, count FROM counter_periods FORCE INDEX (PRIMARY) ${imported}
         WHERE ${range} AND period = 1 AND period_start >= '${from}'
           AND (imported_on IS NULL OR period_start > imported_on)
       UNION ALL SELECT record_id, 'hours', DATE(period_start), count, 0 FROM counter_history FORCE INDEX (PRIMARY) ${imported}
         WHERE ${range} AND period_start >= '${from}' AND (imported_on IS NULL OR DATE(period_start) > imported_on)
     ) AS parts
     GROUP BY record_id, what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY record_id, what, start LIMIT ${MAX_WRONG}`,
  )
}
