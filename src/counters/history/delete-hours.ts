import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { packedSql, unpack } from '../../database/packed-columns.ts'
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
interface OldCounterHour extends OldHour {
  recordId: bigint
}

/**
 * Reads the next hours of counters that began before a time, oldest first, without locks.
 *
 * @param after the last hour of the previous page; `null` for the first page
 */
export async function readCounterHours(
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
    `SELECT h.period_start, ${packedSql('h.record_type', 'h.record_id', 'd.count IS NOT NULL')}
     FROM counter_history AS h FORCE INDEX (period_start)
     LEFT JOIN counter_periods AS d ON d.record_type = h.record_type AND d.record_id = h.record_id AND d.period = ${PERIODS.day}
       AND d.period_start = DATE(h.period_start)
     WHERE h.period_start < ? ${resume} ORDER BY h.period_start, h.record_type, h.record_id LIMIT ?`,
    [before, ...resumeAt, limit],
  )
  return rows.map((row) => {
    const [recordType, recordId, covered] = unpack(row) as [string, string, string]
    return {
      start: String(row.period_start),
      recordType: Number(recordType),
      recordId: BigInt(recordId),
      covered: covered === '1',
    }
  })
}

/**
 * Deletes hours, which must all be in one range. Deleting all that began before a time would lock the gaps that roll-ups insert
 * into.
 *
 * @returns the number of hours deleted
 */
export async function deleteCounterHours(db: Executor, hours: readonly OldCounterHour[]): Promise<number> {
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

/** A row of an hour of a type. */
interface OldTypeHour extends OldHour {
  rangeLane: bigint
}

/**
 * Reads the next hours of types that began before a time, without locks.
 *
 * @param after the last hour of the previous page; `null` for the first page
 */
export async function readTypeHours(
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
