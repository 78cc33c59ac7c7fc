import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { PERIODS } from './calendar.ts'
import type { OldHour } from './old-hours.ts'

/**
 * Reads the next hours of types that began before a time, without locks.
 *
 * @param after read on from here; `null`: from the beginning
 * @throws {DatabaseFailure}
 */
export async function readOldTypeHours(
  db: Executor,
  recordTypes: readonly number[],
  before: Date,
  after: OldHour | null,
  limit: number,
): Promise<OldHour[]> {
  const resume = after ? 'AND (h.record_type > ? OR (h.record_type = ? AND h.period_start > ?))' : ''
  const { rows } = await db.execute(
    `SELECT h.record_type, h.period_start, d.count IS NOT NULL AS covered
     FROM type_history AS h FORCE INDEX (PRIMARY)
     LEFT JOIN type_history AS d ON d.record_type = h.record_type AND d.period = ${PERIODS.day}
       AND d.period_start = DATE(h.period_start)
     WHERE h.record_type IN (${recordTypes.join(',')}) AND h.period = ${PERIODS.hour} AND h.period_start < ? ${resume}
     ORDER BY h.record_type, h.period_start LIMIT ?`,
    [before, ...(after ? [after.recordType, after.recordType, after.start] : []), limit],
  )
  return rows.map((row) => ({
    recordType: Number(row.record_type),
    start: String(row.period_start),
    covered: toBigInt(row.covered) === 1n,
  }))
}

/**
 * Deletes hours of types by primary key, in its order.
 *
 * @returns how many there were
 * @throws {DatabaseFailure}
 */
export async function deleteTypeHours(db: Executor, hours: readonly OldHour[]): Promise<number> {
  const rows = hours.map(({ recordType, start }) => `(${recordType},${PERIODS.hour},'${start}')`)
  const { rowsAffected } = await db.execute(
    `DELETE FROM type_history WHERE (record_type, period, period_start) IN (${rows.join(',')})`,
  )
  return rowsAffected
}
