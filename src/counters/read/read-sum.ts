import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, earliest, PERIODS } from '../calendar.ts'
import { partsSql } from '../history/rows-sql.ts'
import type { Selection } from '../history/selection.ts'
import { beginsWithSql, checkPrefix, fromNamesSql, type KeysWithPrefix, ROWS_OF_KEY } from '../keys/prefix.ts'
import { rangeStarts } from '../ranges.ts'
import { RECENT_DAYS, type Reading, type RecentPeriod, recentDays } from './read-counters.ts'

/** The most pending slots of a type that are added up. */
export const MAX_PENDING_OF_TYPE = 10_000
/** The same for requests without a token. */
export const MAX_PUBLIC_PENDING_OF_TYPE = 500

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
 * @returns `rolledUpAt`: the last roll-up that left nothing pending
 * @throws {TooManyKeys}
 */
export async function readSum(db: Executor, of: KeysWithPrefix, options: SumOptions): Promise<Reading> {
  const { maxRows, period } = options
  const recent = period && recentDays(period, new Date())
  if (of.name !== '' && maxRows !== null) {
    await checkPrefix(db, of, {
      rows: ROWS_OF_KEY + (period === null ? 1 : RECENT_DAYS[period]),
      maxRows,
    })
  }
  const exact = options.mostPending > 0 && (await hasFewPending(db, of.recordType, options.mostPending))
  const { rows } = await db.execute(sumSql(of, recent, exact))
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

function sumSql(of: KeysWithPrefix, recent: Selection | null, exact: boolean): string {
  const parts = [
    ...keptSql(of, recent).map((kept) => `SELECT 'kept' AS part, 0 AS id, ${kept}`),
    ...(exact ? [pendingSql(of)] : []),
    `SELECT 'run', range_start, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', caught_up_at) DIV 1000
       FROM rollup_state`,
  ]
  return `SELECT part, id, SUM(number) AS sum FROM (${parts.join('\n UNION ALL ')}) AS parts GROUP BY part, id`
}

/** The rows whose sum was rolled up: of a recent period, or in all time, then with adjustments. */
function keptSql({ recordType, name: prefix }: KeysWithPrefix, recent: Selection | null): string[] {
  if (recent !== null) {
    const whose = prefix === '' ? { type: recordType } : { prefix: { recordType, name: prefix } }
    // Grouped by bucket, which names the shard: vtgate would not push down a sum of all rows.
    const [sum, group] = prefix === '' ? ['SUM(h.count)', 'GROUP BY h.bucket'] : ['h.count', '']
    return partsSql(whose, recent, 0).map(({ from }) => `${sum} AS number ${from} ${group}`)
  }
  return [
    prefix === ''
      ? `SUM(count) AS number FROM type_history FORCE INDEX (PRIMARY)
           WHERE record_type = ${recordType} AND period IN (${PERIODS.month}, ${ADJUSTMENTS_SUM}) GROUP BY bucket`
      : `count AS number FROM counters FORCE INDEX (name)
           WHERE record_type = ${recordType} AND ${beginsWithSql('name', prefix)}`,
  ]
}

function pendingSql(of: KeysWithPrefix): string {
  const slots = 'slotted_counters AS s FORCE INDEX (pending)'
  return of.name === ''
    ? `SELECT 'pending', 0, SUM(s.count) FROM ${slots} WHERE s.pending = 1 AND s.record_type = ${of.recordType}
        GROUP BY s.record_type, s.record_id, s.bucket`
    : `SELECT 'pending', 0, s.count ${fromNamesSql(of, slots, 's')} AND s.pending = 1`
}
