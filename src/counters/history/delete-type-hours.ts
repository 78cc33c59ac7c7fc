import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { PERIODS } from '../calendar.ts'
import type { OldHour } from './delete-counter-hours.ts'

/** A row of an hour of a type. */
export interface OldTypeHour extends OldHour {
  rangeLane: bigint
}

/**
 * Reads the next hours of types that began before a time, without locks.
 *
 * @param after the last hour of the previous page; `null` for the first page
 */
export async function readOldTypeHours(
  db: Executor,
  recordTypes: readonly number[],
  before: Date,
  after: OldTypeHour | null,
  limit: number,
): Promise<OldTypeHour[]> {
  const resume = after
    ? `AND (h.record_type > ? OR (h.record_type = ? AND h.period_start > ?)
         OR (h.record_type = ? AND h.period_start = ? AND h.range_lane > ?))`
    : ''
  const resumeAt = after
    ? [after.recordType, after.recordType, after.start, after.recordType, after.start, after.rangeLane]
    : []
  const { rows } = await db.execute(
    `SELECT h.record_type, h.period_start, h.range_lane, d.count IS NOT NULL AS covered
     FROM type_history AS h FORCE INDEX (PRIMARY)
     LEFT JOIN type_history AS d ON d.record_type = h.record_type AND d.period = ${PERIODS.day}
       AND d.period_start = DATE(h.period_start) AND d.range_lane = h.range_lane
     WHERE h.record_type IN (${recordTypes.join(',')}) AND h.period = ${PERIODS.hour} AND h.period_start < ? ${resume}
     ORDER BY h.record_type, h.period_start, h.range_lane LIMIT ?`,
    [before, ...resumeAt, limit],
  )
  return rows.map((row) => ({
    recordType: Number(row.record_type),
    start: String(row.period_start),
    rangeLane: toBigInt(row.range_lane),
    covered: toBigInt(row.covered) === 1n,
  }))
}

/**
 * Deletes hours of types by primary key, in its order. All of them must be in one range.
 *
 * @returns the number of hours deleted
 */
export async function deleteTypeHours(db: Executor, hours: readonly OldTypeHour[]): Promise<number> {
  const rows = hours.map(
    ({ recordType, start, rangeLane }) => `(${recordType},${PERIODS.hour},'${start}',${rangeLane})`,
  )
  const { rowsAffected } = await db.execute(
    `DELETE FROM type_history WHERE (record_type, period, period_start, range_lane) IN (${rows.join(',')})`,
  )
  return rowsAffected
}
