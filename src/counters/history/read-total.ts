import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { ADJUSTMENTS_SUM, PERIODS } from '../calendar.ts'
import { hash64 } from '../keys/key-hash.ts'
import { beginsWithSql, isComplete } from '../prefix-builds.ts'
import { rangeStarts } from '../ranges.ts'
import { type RecentPeriod, recentSpan } from './recent-period.ts'

/** The most pending slots of a type that an exact total adds up. */
export const MAX_PENDING = 10_000

/** The counters that a total adds up. It looks like a counter, so that it can be read and cached like one. */
export interface TotalOf {
  recordType: number
  /** The hash of the prefix; 0 for a whole type. */
  recordId: bigint
  /** The prefix of their keys, which the type declares; empty for all of the type. */
  name: string
}

/** The total of a type, or of a prefix that it declares. */
export async function totalOf(recordType: number, prefix: string | null): Promise<TotalOf> {
  return { recordType, recordId: prefix === null ? 0n : await hash64(prefix), name: prefix ?? '' }
}

/** The sum of the counters of a type or prefix. */
export interface TotalReading {
  /** What has been rolled up, set and imported. */
  total: bigint
  /** What has not been rolled up yet; `null` if that was not read. */
  pending: bigint | null
  /** The time of the last roll-up that left nothing pending; `null` if there was none. */
  rolledUpAt: Date | null
  /** Whether the sums of the prefix include the counters from before it was declared. */
  complete: boolean
}

/** How to read. */
export interface TotalOptions {
  consistency: 'exact' | 'rolled'
  /** The period to add up, which ends now; `null` for all time. */
  period: RecentPeriod | null
  /** The number of ranges. */
  ranges: number
}

/**
 * Reads a total. What was rolled up is read from the sums that are kept: a few rows for each month. What is pending is added up
 * from the slots. If the type has more than `MAX_PENDING` of them, it is left out.
 *
 * vtgate sends the statement to each shard whole, because it names no record id. So both parts are from one snapshot of each
 * shard, and a roll-up is seen whole or not at all. A counter that is being renamed or merged is missing while it is on its way.
 */
export async function readTotal(db: Executor, of: TotalOf, options: TotalOptions): Promise<TotalReading> {
  const exact = options.consistency === 'exact' && (await hasFewPending(db, of.recordType))
  const { rows } = await db.execute(totalSql(of, options, exact))
  const parts = Map.groupBy(rows, ({ part }) => String(part))
  const sumOf = (part: string) => (parts.get(part) ?? []).reduce((sum, { sum: more }) => sum + toBigInt(more ?? 0), 0n)
  return {
    total: sumOf('kept'),
    pending: exact ? sumOf('pending') : null,
    rolledUpAt: earliest(options.ranges, parts.get('run') ?? []),
    complete: of.name === '' || isComplete(completeOf(parts.get('build') ?? []), options.ranges),
  }
}

/** The index has an entry for each slot that is not empty, so this reads at most as many as it counts. */
async function hasFewPending(db: Executor, recordType: number): Promise<boolean> {
  const { rows } = await db.execute(
    `SELECT COUNT(*) AS pending FROM (SELECT 1 FROM slotted_counters FORCE INDEX (pending)
       WHERE pending = 1 AND record_type = ${recordType} LIMIT ${MAX_PENDING + 1}) AS s`,
  )
  return toBigInt(rows[0]?.pending) <= MAX_PENDING
}

function totalSql(of: TotalOf, { period }: TotalOptions, exact: boolean): string {
  const parts = [
    ...keptSql(of, period),
    ...(exact ? [pendingSql(of)] : []),
    `SELECT 'run', range_start, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', caught_up_at) DIV 1000
       FROM rollup_state`,
    ...(of.name === ''
      ? []
      : [
          `SELECT 'build', range_start, complete FROM prefix_builds FORCE INDEX (PRIMARY)
             WHERE record_type = ${of.recordType} AND prefix_hash = ${of.recordId}`,
        ]),
  ]
  return `SELECT part, id, SUM(number) AS sum FROM (${parts.join('\n UNION ALL ')}) AS parts GROUP BY part, id`
}

/** The rows whose sum was rolled up in a period, or with adjustments in all time. */
function keptSql({ recordType, recordId: hash, name: prefix }: TotalOf, period: RecentPeriod | null): string[] {
  const [table, ofPrefix] = prefix === '' ? ['type_history', ''] : ['prefix_history', `AND prefix_hash = ${hash}`]
  const kept = (periods: string, more: string) =>
    `SELECT 'kept' AS part, 0 AS id, count AS number FROM ${table} FORCE INDEX (PRIMARY)
      WHERE record_type = ${recordType} ${ofPrefix} AND period ${periods} ${more}`
  if (period === null) return [kept(`IN (${PERIODS.month}, ${ADJUSTMENTS_SUM})`, '')]
  const { after, nextDay } = recentSpan(period, new Date())
  return [
    kept(`= ${PERIODS.hour}`, `AND period_start > '${literal(after)}' AND period_start < '${literal(nextDay)}'`),
    kept(`= ${PERIODS.day}`, `AND period_start >= '${literal(nextDay)}'`),
  ]
}

function pendingSql({ recordType, name: prefix }: TotalOf): string {
  const named =
    prefix === ''
      ? ''
      : `STRAIGHT_JOIN counter_names AS n ON n.record_type = s.record_type AND n.record_id = s.record_id
           AND ${beginsWithSql('n.name', prefix)}`
  return `SELECT 'pending', 0, s.count FROM slotted_counters AS s FORCE INDEX (pending) ${named}
             WHERE s.pending = 1 AND s.record_type = ${recordType}`
}

/** The earliest time of all ranges; `null` if one has none. */
function earliest(ranges: number, rows: readonly Record<string, unknown>[]): Date | null {
  const times = new Map(rows.map(({ id, sum }) => [toBigInt(id), sum === null ? null : Number(toBigInt(sum))]))
  const all = rangeStarts(ranges).map((start) => times.get(start) ?? null)
  return all.includes(null) ? null : new Date(Math.min(...(all as number[])))
}

function completeOf(rows: readonly Record<string, unknown>[]): Map<bigint, boolean> {
  return new Map(rows.map(({ id, sum }) => [toBigInt(id), toBigInt(sum) === 1n]))
}

function literal(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ')
}
