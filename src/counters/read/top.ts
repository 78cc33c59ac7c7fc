import type { Executor } from '../../database/database.ts'
import { toBigInt, toText } from '../../database/values.ts'
import { type CalendarPeriod, dayText, PERIODS } from '../calendar.ts'
import type { KeyedType, RankedCounter } from '../keys/counter-address.ts'

export const MAX_TOP = 100

/** All time, or a calendar period in UTC. */
export type TopPeriod = { period: 'all' } | { period: Exclude<CalendarPeriod, 'hour'>; start: Date }

/**
 * Reads the counters of a type with the highest counts as of the last roll-up, highest first, positive ones only. Of equal
 * counts, the higher record id comes first.
 * @param limit at most `MAX_TOP`. About as many rows are read, however many counters there are.
 */
export async function readTop(
  db: Executor,
  { recordType }: KeyedType,
  top: TopPeriod,
  limit: number,
): Promise<RankedCounter[]> {
  const [table, period, args] =
    top.period === 'all'
      ? ['counter_totals', '', [recordType]]
      : [
          'counter_periods',
          'AND t.period = ? AND t.period_start = ?',
          [recordType, PERIODS[top.period], dayText(top.start)],
        ]
  const where = `t.record_type = ? ${period} AND t.count > 0`
  // A counter and its name are on one shard, so vtgate sends this whole to each shard, and merges the first rows.
  const { rows } = await db.execute(
    `SELECT n.name, t.count, t.record_id FROM ${table} AS t FORCE INDEX (ranking)
     JOIN counter_names AS n ON n.record_type = t.record_type AND n.record_id = t.record_id
     WHERE ${where} ORDER BY t.count DESC, t.record_id DESC LIMIT ?`,
    [...args, limit],
  )
  return rows.map(({ name, count, record_id }) => {
    return { recordType, recordId: toBigInt(record_id), name: toText(name), count: toBigInt(count) }
  })
}
