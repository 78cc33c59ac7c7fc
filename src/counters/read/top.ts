import type { Executor } from '../../database/database.ts'
import { toBigInt, toText } from '../../database/values.ts'
import { type CalendarPeriod, dayText, PERIODS } from '../calendar.ts'
import type { KeyedType } from '../keys/counter-address.ts'

/** The most counters in one response. */
export const MAX_TOP = 100

/** The period by which counters are ranked: all time, or a calendar period in UTC. */
export type TopPeriod = { period: 'all' } | { period: Exclude<CalendarPeriod, 'hour'>; start: Date }

/** A counter's key and count. */
export interface NamedCount {
  key: string
  count: bigint
}

/**
 * Reads the counters of a type that have the highest counts as of the last roll-up, highest first. Equal counts are in the order
 * of the index: the higher record id comes first. Counters without a positive count are left out.
 *
 * @param limit at most `MAX_TOP`. About as many rows are read, no matter how many counters there are.
 */
export async function readTop(
  db: Executor,
  { recordType }: KeyedType,
  top: TopPeriod,
  limit: number,
): Promise<NamedCount[]> {
  const [table, period, args] =
    top.period === 'all'
      ? ['counter_totals', '', [recordType]]
      : [
          'counter_periods',
          'AND t.period = ? AND t.period_start = ?',
          [recordType, PERIODS[top.period], dayText(top.start)],
        ]
  const where = `t.record_type = ? ${period} AND t.count > 0`
  // vtgate sends this to each shard whole, because a counter and its name are on the same shard, and merges the first rows.
  const { rows } = await db.execute(
    `SELECT n.name, t.count FROM ${table} AS t FORCE INDEX (ranking)
     JOIN counter_names AS n ON n.record_type = t.record_type AND n.record_id = t.record_id
     WHERE ${where} ORDER BY t.count DESC, t.record_id DESC LIMIT ?`,
    [...args, limit],
  )
  return rows.map(({ name, count }) => ({ key: toText(name), count: toBigInt(count) }))
}
