import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { PERIODS } from './calendar.ts'

/** An hour of the history that is old enough to be folded. */
export interface OldHour {
  recordType: number
  /** When it began, in UTC, as the database writes it. */
  start: string
  /** Whether the history has the day it lies in. */
  covered: boolean
}

/** An hour of one counter's history. */
export interface OldCounterHour extends OldHour {
  recordId: bigint
}

/**
 * Reads the next hours of counters that began before a time, oldest first, without locks.
 *
 * @param after read on from here; `null`: from the oldest
 * @throws {DatabaseFailure}
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
 * Deletes hours by primary key, in its order: a range would lock the gaps that roll-ups insert into.
 *
 * @returns how many there were
 * @throws {DatabaseFailure}
 */
export async function deleteHours(db: Executor, hours: readonly OldCounterHour[]): Promise<number> {
  const rows = hours
    .toSorted(
      (a, b) =>
        a.recordType - b.recordType ||
        (a.recordId < b.recordId ? -1 : a.recordId > b.recordId ? 1 : a.start < b.start ? -1 : 1),
    )
    .map(({ recordType, recordId, start }) => `(${recordType},${recordId},'${start}')`)
  // With the table named twice, because only this form takes the name of an index: MariaDB may otherwise go by period_start,
  // through all hours that began then.
  const { rowsAffected } = await db.execute(
    `DELETE h FROM counter_history AS h FORCE INDEX (PRIMARY) WHERE (record_type, record_id, period_start) IN (${rows.join(',')})`,
  )
  return rowsAffected
}
