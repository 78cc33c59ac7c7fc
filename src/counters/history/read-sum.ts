import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, earliest, PERIODS } from '../calendar.ts'
import { hash64 } from '../ids.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { checkPrefix, fromNamesSql, ofPrefixSql, ROWS_OF_KEY } from '../keys/prefix.ts'
import { rangeStarts } from '../ranges.ts'
import { RECENT_PERIOD_HOURS, type RecentPeriod, recentSources } from './recent-period.ts'
import { fromPrefixSql, type HistorySource, sourceSql } from './sum-periods.ts'

/** The most pending slots of a type that are added up. */
export const MAX_PENDING_OF_TYPE = 10_000
/** The same for requests without a token. */
export const MAX_PUBLIC_PENDING_OF_TYPE = 500

/**
 * The counters of a sum, addressed and cached like one counter: `name` is the prefix of their keys and `recordId` its hash. For a
 * whole type, `name` is empty and `recordId` 0.
 */
export type SumOf = CounterAddress

/** The sum of a type, or of the counters whose keys begin with a prefix. */
export async function sumOf(recordType: number, prefix: string | null): Promise<SumOf> {
  return { recordType, recordId: prefix === null ? 0n : await hash64(prefix), name: prefix ?? '' }
}

export interface SumReading {
  /** Rolled up, set and imported. */
  total: bigint
  /** Not rolled up yet; `null` if that was not read. */
  pending: bigint | null
  /** The last roll-up that left nothing pending. */
  rolledUpAt: Date | null
}

export interface SumOptions {
  /** The most pending slots that are added up. With more slots, or with 0, the sum is as of the last roll-up. */
  mostPending: number
  /** As for `checkPrefix`; `null`: the prefix was checked before. */
  maxRows?: number | null | undefined
  period: RecentPeriod | null
  ranges: number
}

/**
 * Reads a sum: a type's from its history and adjustments, a few rows a month; a prefix's from its counters; both with pending
 * slots. The statement names no record id, so vtgate sends it whole to each shard: the parts come from one snapshot there.
 * @throws {TooManyKeys}
 */
export async function readSum(db: Executor, of: SumOf, options: SumOptions): Promise<SumReading> {
  const { maxRows, period } = options
  const sources = period && recentSources(period, new Date())
  if (of.name !== '' && maxRows !== null) {
    const rows = ROWS_OF_KEY + (period === null ? 1 : 24 + RECENT_PERIOD_HOURS[period] / 24 + 1)
    await checkPrefix(db, of, { rows, maxRows })
  }
  const exact = options.mostPending > 0 && (await hasFewPending(db, of.recordType, options.mostPending))
  const { rows } = await db.execute(sumSql(of, sources, exact))
  const parts = Map.groupBy(rows, ({ part }) => String(part))
  const sumIn = (part: string) => (parts.get(part) ?? []).reduce((sum, { sum: more }) => sum + toBigInt(more ?? 0), 0n)
  const runs = new Map(
    parts.get('run')?.map(({ id, sum }) => [toBigInt(id), sum === null ? null : new Date(Number(toBigInt(sum)))]),
  )
  return {
    total: sumIn('kept'),
    pending: exact ? sumIn('pending') : null,
    rolledUpAt: earliest(rangeStarts(options.ranges).map((start) => runs.get(start) ?? null)),
  }
}

/** Reads at most `most` + 1 entries: the index has one for each slot that is not empty. */
async function hasFewPending(db: Executor, recordType: number, most: number): Promise<boolean> {
  const { rows } = await db.execute(
    `SELECT 1 FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND record_type = ${recordType} LIMIT ${most}, 1`,
  )
  return rows.length === 0
}

function sumSql(of: SumOf, sources: HistorySource[] | null, exact: boolean): string {
  const parts = [
    ...keptSql(of, sources),
    ...(exact ? [pendingSql(of)] : []),
    `SELECT 'run', range_start, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', caught_up_at) DIV 1000
       FROM rollup_state`,
  ]
  return `SELECT part, id, SUM(number) AS sum FROM (${parts.join('\n UNION ALL ')}) AS parts GROUP BY part, id`
}

/** The rows whose sum was rolled up in some sources, or in all time, then with adjustments. */
function keptSql(of: SumOf, sources: HistorySource[] | null): string[] {
  // Grouped by lane, which names the shard: vtgate would not push down a sum of all rows.
  const ofType = (periods: string) =>
    `SELECT 'kept' AS part, 0 AS id, SUM(count) AS number FROM type_history FORCE INDEX (PRIMARY)
      WHERE record_type = ${of.recordType} AND period ${periods} GROUP BY range_lane`
  const ofNames = (from: string) => `SELECT 'kept' AS part, 0 AS id, h.count AS number ${from}`
  if (of.name === '') {
    if (sources === null) return [ofType(`IN (${PERIODS.month}, ${ADJUSTMENTS_SUM})`)]
    return sources.map((source) => ofType(`= ${PERIODS[source.unit as 'hour']} AND ${sourceSql(source)}`))
  }
  if (sources === null) return [ofNames(ofPrefixSql(of, 'h'))]
  return sources.map((source) =>
    ofNames(`${fromPrefixSql(source.unit, of)} AND ${sourceSql(source, 'h.period_start')}`),
  )
}

function pendingSql(of: SumOf): string {
  const slots = 'slotted_counters AS s FORCE INDEX (pending)'
  return of.name === ''
    ? `SELECT 'pending', 0, SUM(s.count) FROM ${slots} WHERE s.pending = 1 AND s.record_type = ${of.recordType}
        GROUP BY s.record_type, s.record_id`
    : `SELECT 'pending', 0, s.count ${fromNamesSql(of, slots, 's')} AND s.pending = 1`
}
