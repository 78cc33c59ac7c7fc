import type { Database } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { toText } from '../../database/text.ts'
import { ADJUSTMENTS_SUM, PERIODS } from '../calendar.ts'
import { beginsWithSql, isComplete, type Prefix } from '../prefix-builds.ts'
import { firstDayWithHours, type HourRule } from './kept-hours.ts'
import { confirmMismatches, MAX_WRONG, type Mismatch, toMismatch } from './mismatch.ts'

/** Where a page begins: after a prefix, by type and hash. */
export interface PrefixPosition {
  recordType: number
  hash: bigint
}

/**
 * Checks the sums of the next prefix that is complete against the rows of its counters, all in one statement: only that reads from
 * one snapshot (see `verifyTypeDays`). It reads everything that the counters with the prefix have.
 *
 * @returns where the next page begins; `null` if there are no more prefixes
 */
export async function verifyPrefix(
  db: Database,
  from: PrefixPosition,
  rule: HourRule,
): Promise<{ wrong: Mismatch[]; next: PrefixPosition | null }> {
  const { rows } = await db.execute(
    `SELECT record_type, prefix_hash, range_start, prefix, complete FROM prefix_builds FORCE INDEX (PRIMARY)
     WHERE record_type >= ${from.recordType} AND prefix_hash > 0`,
  )
  const prefixes = new Map<string, Prefix & { complete: Map<bigint, boolean> }>()
  for (const row of rows) {
    const prefix = { recordType: Number(row.record_type), hash: toBigInt(row.prefix_hash), text: toText(row.prefix) }
    const known = prefixes.get(`${prefix.recordType} ${prefix.hash}`) ?? { ...prefix, complete: new Map() }
    prefixes.set(`${prefix.recordType} ${prefix.hash}`, known)
    known.complete.set(toBigInt(row.range_start), Number(row.complete) === 1)
  }
  const [prefix] = [...prefixes.values()]
    .filter(({ recordType, hash, complete }) => {
      return (recordType > from.recordType || hash > from.hash) && isComplete(complete, db.ranges)
    })
    .sort((a, b) => a.recordType - b.recordType || (a.hash < b.hash ? -1 : 1))
  if (prefix === undefined) return { wrong: [], next: null }
  const wrong = await confirmMismatches(async () => compare(db, prefix, await firstDayWithHours(db, rule)))
  return { wrong, next: prefix }
}

async function compare(db: Database, { recordType, hash, text }: Prefix, firstDay: string): Promise<Mismatch[]> {
  const kept = `FROM prefix_history FORCE INDEX (PRIMARY) WHERE record_type = ${recordType} AND prefix_hash = ${hash} AND period`
  const counters = (table: string) =>
    `FROM counter_names AS n FORCE INDEX (name) STRAIGHT_JOIN ${table} AS c FORCE INDEX (PRIMARY)
       ON c.record_type = n.record_type AND c.record_id = n.record_id
     WHERE n.record_type = ${recordType} AND ${beginsWithSql('n.name', text)}`
  const { rows } = await db.execute(
    `SELECT what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
       SELECT ${nameOf('period')} AS what, CAST(period_start AS CHAR) AS start, count AS recorded, 0 AS expected
         ${kept} BETWEEN ${PERIODS.day} AND ${ADJUSTMENTS_SUM}
       UNION ALL SELECT ${nameOf('c.period')}, CONCAT(CAST(c.period_start AS CHAR), ' 00:00:00'), 0, c.count
         ${counters('counter_periods')}
       UNION ALL SELECT 'adjustments', '1970-01-01 00:00:00', 0, c.count ${counters('counter_adjustments')}
       UNION ALL SELECT 'hour', CAST(period_start AS CHAR), count, 0 ${kept} = ${PERIODS.hour} AND period_start >= '${firstDay}'
       UNION ALL SELECT 'hour', CAST(c.period_start AS CHAR), 0, c.count ${counters('counter_history')}
         AND c.period_start >= '${firstDay}'
     ) AS parts GROUP BY what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY what, start LIMIT ${MAX_WRONG}`,
  )
  return rows.map((row) => toMismatch(recordType, null, row, text))
}

function nameOf(period: string): string {
  return `ELT(${period}, 'day', 'week', 'month', 'adjustments')`
}
