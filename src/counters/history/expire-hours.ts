import type { Database, Executor } from '../../database/database.ts'
import { withRetries } from '../../database/retry.ts'
import { countStatements } from '../../database/statement-budget.ts'
import { packedSql, toBigInt, unpack } from '../../database/values.ts'
import type { StoppedBy } from '../background-runs.ts'
import { DAY_MS, PERIODS, startOf } from '../calendar.ts'
import { counterListsSql } from '../counters-sql.ts'
import { byRange } from '../ranges.ts'

export interface ExpirySettings {
  /** Of older days, only the sum remains. */
  hourDays: number
  /** Hours that one page reads and deletes. */
  pageHours: number
  /** Including the statements of pruning. Each is one subrequest of the Worker. */
  maxStatements: number
  /** No further page starts after this. Default: no limit. */
  maxSeconds?: number
}

export interface ExpirySummary {
  outcome: 'complete' | 'partial'
  /** The budget that ended the run early. */
  stoppedBy: StoppedBy | null
  /** Of counters and types. */
  deleted: number
  /** Hours that are old enough but whose day is missing. */
  kept: number
  statements: number
  milliseconds: number
}

/** The statements of a page of types and one of counters: one read each, and one deletion for each range. */
export function leastExpiryStatements(ranges: number): number {
  return 2 * (1 + ranges)
}

export interface ExpiryOptions extends ExpirySettings {
  recordTypes: readonly number[]
  at: Date
}

/**
 * Deletes the hours of old days from the history, oldest first, page by page. Days hold the sums of their hours, so histories
 * by UTC days or months do not change. An hour whose day is missing is kept.
 */
export async function expireHours(database: Database, options: ExpiryOptions): Promise<ExpirySummary> {
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  const tally = { deleted: 0, kept: 0 }
  // Whole days: a day has all of its hours or none, unless a run could not finish it.
  const before = startOf('day', new Date(options.at.getTime() - options.hourDays * DAY_MS))
  const { pageHours, recordTypes, maxStatements, maxSeconds = Number.POSITIVE_INFINITY } = options

  const expirePages = async <Hour extends OldHour>(
    read: (after: Hour | null) => Promise<Hour[]>,
    remove: (db: Executor, hours: readonly Hour[]) => Promise<number>,
    recordIdOf: (hour: Hour) => bigint,
  ): Promise<StoppedBy | null> => {
    for (let after: Hour | null = null; ; ) {
      if (counted.sent + 1 + database.ranges > maxStatements) return 'statements'
      if (Date.now() - began >= maxSeconds * 1_000) return 'seconds'
      const page: Hour[] = await read(after)
      const covered = page.filter((hour) => hour.covered)
      const parts = [...byRange(covered, database.ranges, recordIdOf).values()]
      const deleted = await Promise.all(parts.map((part) => remove(db, part)))
      tally.deleted += deleted.reduce((sum, count) => sum + count, 0)
      tally.kept += page.length - covered.length
      if (page.length < pageHours) return null
      after = page.at(-1)!
    }
  }
  // Types first, because they have few hours.
  const stoppedBy =
    (await expirePages(
      (after) => readTypeHours(db, recordTypes, before, after, pageHours),
      deleteTypeHours,
      ({ rangeLane }) => rangeLane,
    )) ??
    (await expirePages(
      (after) => readCounterHours(db, before, after, pageHours),
      deleteCounterHours,
      ({ recordId }) => recordId,
    ))
  const outcome = stoppedBy === null ? 'complete' : 'partial'
  return { outcome, stoppedBy, ...tally, statements: counted.sent, milliseconds: Date.now() - began }
}

export interface OldHour {
  recordType: number
  /** UTC, in the database's notation. */
  start: string
  /** Whether the history has its day. */
  covered: boolean
}

interface OldCounterHour extends OldHour {
  recordId: bigint
}

/**
 * Reads the next hours of counters before a time, oldest first, without locks.
 * @param after the last hour of the previous page
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

/** Deletes hours of one range, by primary key: deleting by time would lock the gaps that roll-ups insert into. */
export async function deleteCounterHours(db: Executor, hours: readonly OldCounterHour[]): Promise<number> {
  const conditions = [...Map.groupBy(hours, ({ start }) => start)].flatMap(([start, begun]) =>
    counterListsSql(begun).map((counters) => `(${counters} AND period_start = '${start}')`),
  )
  // Routes the statement to the shard: vtgate does not look into OR.
  const recordIds = new Set(hours.map(({ recordId }) => recordId))
  const { rowsAffected } = await db.execute(
    `DELETE FROM counter_history WHERE record_id IN (${[...recordIds].join(',')}) AND (${conditions.join(' OR ')})`,
  )
  return rowsAffected
}

interface OldTypeHour extends OldHour {
  rangeLane: bigint
}

/** Reads the next hours of types before a time, without locks. */
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

/** Deletes hours of types of one range, by primary key, in its order. */
export async function deleteTypeHours(db: Executor, hours: readonly OldTypeHour[]): Promise<number> {
  const rows = hours.map(
    ({ recordType, start, rangeLane }) => `(${recordType},${PERIODS.hour},'${start}',${rangeLane})`,
  )
  const { rowsAffected } = await db.execute(
    `DELETE FROM type_history WHERE (record_type, period, period_start, range_lane) IN (${rows.join(',')})`,
  )
  return rowsAffected
}
