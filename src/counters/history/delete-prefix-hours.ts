import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { PERIODS } from '../calendar.ts'
import type { Prefix } from '../prefix-builds.ts'
import type { OldTypeHour } from './delete-type-hours.ts'

/** A row of an hour of a prefix. */
export interface OldPrefixHour extends OldTypeHour {
  hash: bigint
}

/**
 * Reads the next hours of prefixes that began before a time, without locks.
 *
 * @param after the last hour of the previous page; `null` for the first page
 */
export async function readOldPrefixHours(
  db: Executor,
  prefixes: readonly Pick<Prefix, 'recordType' | 'hash'>[],
  before: Date,
  after: OldPrefixHour | null,
  limit: number,
): Promise<OldPrefixHour[]> {
  const list = (values: Iterable<bigint | number>) => [...new Set(values)].join(',')
  const resume = after
    ? `AND (h.record_type > ${after.recordType} OR (h.record_type = ${after.recordType} AND (h.prefix_hash > ${after.hash}
         OR (h.prefix_hash = ${after.hash} AND (h.period_start > '${after.start}'
           OR (h.period_start = '${after.start}' AND h.range_lane > ${after.rangeLane}))))))`
    : ''
  const { rows } = await db.execute(
    `SELECT h.record_type, h.prefix_hash, h.period_start, h.range_lane, d.count IS NOT NULL AS covered
     FROM prefix_history AS h FORCE INDEX (PRIMARY)
     LEFT JOIN prefix_history AS d ON d.record_type = h.record_type AND d.prefix_hash = h.prefix_hash AND d.period = ${PERIODS.day}
       AND d.period_start = DATE(h.period_start) AND d.range_lane = h.range_lane
     WHERE h.record_type IN (${list(prefixes.map(({ recordType }) => recordType))})
       AND h.prefix_hash IN (${list(prefixes.map(({ hash }) => hash))})
       AND h.period = ${PERIODS.hour} AND h.period_start < ? ${resume}
     ORDER BY h.record_type, h.prefix_hash, h.period_start, h.range_lane LIMIT ?`,
    [before, limit],
  )
  return rows.map((row) => ({
    recordType: Number(row.record_type),
    hash: toBigInt(row.prefix_hash),
    start: String(row.period_start),
    rangeLane: toBigInt(row.range_lane),
    covered: toBigInt(row.covered) === 1n,
  }))
}

/**
 * Deletes hours of prefixes by primary key, in its order. All of them must be in one range.
 *
 * @returns the number of hours deleted
 */
export async function deletePrefixHours(db: Executor, hours: readonly OldPrefixHour[]): Promise<number> {
  const rows = hours.map(
    ({ recordType, hash, start, rangeLane }) => `(${recordType},${hash},${PERIODS.hour},'${start}',${rangeLane})`,
  )
  const { rowsAffected } = await db.execute(
    `DELETE FROM prefix_history
     WHERE (record_type, prefix_hash, period, period_start, range_lane) IN (${rows.join(',')})`,
  )
  return rowsAffected
}
