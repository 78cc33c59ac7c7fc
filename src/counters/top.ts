import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { toText } from '../database/text.ts'
import { type CalendarPeriod, PERIODS } from './calendar.ts'
import type { KeyedType } from './counter.ts'

/** Most counters that one answer holds. */
export const MAX_TOP = 100

/** A period by which counters are ranked: all of time, or one of the calendar in UTC. */
export type TopPeriod = { period: 'all' } | { period: Exclude<CalendarPeriod, 'hour'>; start: Date }

/** A counter by its key. */
export interface NamedCount {
  key: string
  count: bigint
}

/**
 * Reads the counters of a type that have the highest counts as of the last roll-up, highest first. Among equal counts the
 * order is always the same, that of the index: the higher record id first. Counters without a positive count are left out,
 * and so are those whose name is still to be stored.
 *
 * @param limit at most `MAX_TOP`; about as many rows are read, whatever there is
 * @throws {DatabaseFailure}
 */
export async function readTop(
  db: Executor,
  { recordType, key }: KeyedType,
  top: TopPeriod,
  limit: number,
): Promise<NamedCount[]> {
  const [ranked, args] =
    top.period === 'all'
      ? ['counter_totals FORCE INDEX (ranking) WHERE record_type = ?', [recordType]]
      : [
          'counter_periods FORCE INDEX (ranking) WHERE record_type = ? AND period = ? AND period_start = ?',
          [recordType, PERIODS[top.period], top.start.toISOString().slice(0, 10)],
        ]
  const ranking = `SELECT record_id, count FROM ${ranked} AND count > 0 ORDER BY count DESC, record_id DESC LIMIT ?`
  if (key === 'integer') {
    const { rows } = await db.execute(ranking, [...args, limit])
    return rows.map(({ record_id, count }) => ({ key: String(record_id), count: toBigInt(count) }))
  }
  // Names for the few that were found, not for those that they were found among.
  const { rows } = await db.execute(
    `SELECT n.name, t.count FROM (${ranking}) AS t
     JOIN counter_names AS n ON n.record_type = ? AND n.record_id = t.record_id
     ORDER BY t.count DESC, t.record_id DESC`,
    [...args, limit, recordType],
  )
  return rows.map(({ name, count }) => ({ key: toText(name), count: toBigInt(count) }))
}
