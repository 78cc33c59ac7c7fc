import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { PERIODS } from '../calendar.ts'
import { counterListsSql } from '../counter-lists-sql.ts'

/** An hour of the history that is old enough to be deleted. */
export interface OldHour {
  recordType: number
  /** When it began, in UTC, in the database's notation. */
  start: string
  /** Whether the history has its day. */
  covered: boolean
}

/** An hour of one counter's history. */
export interface OldCounterHour extends OldHour {
  recordId: bigint
}

/**
 * Reads the next hours of counters that began before a time, oldest first, without locks.
 *
 * @param after the last hour of the previous page; `null` for the first page
 */
export async function readOldHours(
  db: Executor,
  before: Date,
  after: OldCounterHour | null,
  limit: number,
): Promise<OldCounterHour[]> {
  const resume = after
    ? `AND (h.period_start > ? OR (h.period_start = ? AND h.record_type > ?)
         OR (h.period_start = ? AND h.record_type = ? AND h.record_id > ?))`
    : ''
  const resumeAt = after
    ? [after.start, after.start, after.recordType, after.start, after.recordType, after.recordId]
    : []
  const { rows } = await db.execute(
    `SELECT h.period_start, h.record_type, h.record_id, d.count IS NOT NULL AS covered
     FROM counter_history AS h FORCE INDEX (period_start)
     LEFT JOIN counter_periods AS d ON d.record_type = h.record_type AND d.record_id = h.record_id AND d.period = ${PERIODS.day}
       AND d.period_start = DATE(h.period_start)
     WHERE h.period_start < ? ${resume} ORDER BY h.period_start, h.record_type, h.record_id LIMIT ?`,
    [before, ...resumeAt, limit],
  )
  return rows.map((row) => ({
    start: String(row.period_start),
    recordType: Number(row.record_type),
    recordId: toBigInt(row.record_id),
    covered: toBigInt(row.covered) === 1n,
  }))
}

/**
 * Deletes hours, which must all be in one range. Deleting all that began before a time would lock the gaps that roll-ups insert
 * into.
 *
 * @returns the number of hours deleted
 */
export async function deleteHours(db: Executor, hours: readonly OldCounterHour[]): Promise<number> {
  const conditions = [...Map.groupBy(hours, ({ start }) => start)].flatMap(([start, begun]) =>
    counterListsSql(begun).map((counters) => `(${counters} AND period_start = '${start}')`),
  )
  // The first list routes the statement to the shard: vtgate does not look into OR.
  const recordIds = new Set(hours.map(({ recordId }) => recordId))
  const { rowsAffected } = await db.execute(
    `DELETE FROM counter_history WHERE record_id IN (${[...recordIds].join(',')}) AND (${conditions.join(' OR ')})`,
  )
  return rowsAffected
}
