import type { Executor } from '../../database/database.ts'
import { toBigInt, toText } from '../../database/values.ts'
import { dayText } from '../calendar.ts'
import { sameCounterSql } from '../counters-sql.ts'
import { LARGEST_ID } from '../ranges.ts'

export interface ExportRow {
  recordId: bigint
  /** Empty only if the name is missing, which must not be. */
  name: string
  count: bigint
  /** `2026-11-20`, UTC; `null` for the whole count, or for the part without a day. */
  day: string | null
}

interface ExportOptions {
  recordType: number
  /** The record id before the page; `null` for the first page. */
  after: bigint | null
  limit: number
  by: 'total' | 'day'
  /** An instant of the current day. */
  now: Date
}

/** Tables with rows of the counters to export, and the condition on them beyond type and record id. */
const TOTALS = 'counters FORCE INDEX (PRIMARY) WHERE gone_hour IS NULL AND'
const DAYS = 'counter_periods FORCE INDEX (PRIMARY) WHERE period = 1 AND'
const PENDING = 'slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND'

const NAME = `(SELECT name FROM counters AS n WHERE ${sameCounterSql('n', 'slotted_counters')})`

/**
 * Reads counters, or their days, in the order of record ids. Pending counts belong to the current day. The part of a total that is in no
 * day becomes a row without a day. The rows of a counter are from one snapshot: pages of days end between counters. The first statement
 * finds the end of the page, the second reads up to it: with a LIMIT in each part, vtgate would not send it whole to each shard.
 * @returns `next`: the record id before the next page; `null` after the last one
 */
export async function exportCounts(db: Executor, options: ExportOptions) {
  const { recordType, after, limit, by, now } = options
  const first = after === null ? 0n : after + 1n
  if (first > LARGEST_ID) return { rows: [], next: null }
  const byDay = by === 'day'
  const ofPage = `record_type = ${recordType} AND record_id >= ${first}`
  const rowIds = await findIds(db, [TOTALS, ...(byDay ? [DAYS] : []), PENDING], ofPage, limit)
  const ids = byDay ? rowIds : [...new Set(rowIds)]
  const upTo = ids[limit - 1] ?? ids.at(-1)
  if (upTo === undefined) return { rows: [], next: null }
  const inRange = `${ofPage} AND record_id <= ${upTo}`
  const days = `UNION ALL SELECT record_id, 'day', period_start, count, NULL FROM ${DAYS} ${inRange}`
  const { rows } = await db.execute(
    `SELECT record_id, 'total' AS part, NULL AS day, count, name FROM ${TOTALS} ${inRange}
     ${byDay ? days : ''}
     UNION ALL SELECT record_id, 'pending', NULL, SUM(count), ${NAME} FROM ${PENDING} ${inRange}
       GROUP BY record_type, record_id, bucket`,
  )
  const counters = [...Map.groupBy(rows, ({ record_id }) => toBigInt(record_id))].sort(([a], [b]) => (a < b ? -1 : 1))
  // Counters may have been added since the first statement.
  const page = byDay ? counters : counters.slice(0, limit)
  const isLast = ids.length < limit && page.length === counters.length
  return {
    rows: page.flatMap(([recordId, parts]) => rowsOf(recordId, parts, byDay ? dayText(now) : null)),
    next: isLast ? null : (page.at(-1)?.[0] ?? upTo),
  }
}

/** The record ids of the next rows of each table, in order: enough to find the end of the page. */
async function findIds(db: Executor, tables: readonly string[], ofPage: string, limit: number): Promise<bigint[]> {
  const parts = tables.map((table) => {
    const grouped = table === PENDING ? 'GROUP BY record_id, bucket' : ''
    return `(SELECT record_id FROM ${table} ${ofPage} ${grouped} ORDER BY record_id LIMIT ${limit})`
  })
  const { rows } = await db.execute(parts.join(' UNION ALL '))
  return rows.map(({ record_id }) => toBigInt(record_id)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/** @param today `null`: one row for the whole counter */
function rowsOf(recordId: bigint, parts: readonly Record<string, unknown>[], today: string | null): ExportRow[] {
  // Days have no name. Their counter has.
  const name = toText(parts.find(({ name }) => name !== null)?.name ?? '')
  const days = new Map<string, bigint>()
  let undated = 0n
  for (const row of parts) {
    const count = toBigInt(row.count)
    const day = row.part === 'day' ? String(row.day) : row.part === 'pending' ? today : null
    if (row.part === 'day') undated -= count
    if (day === null) undated += count
    else days.set(day, (days.get(day) ?? 0n) + count)
  }
  return [
    ...(undated === 0n && days.size > 0 ? [] : [{ recordId, name, count: undated, day: null }]),
    ...[...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, count]) => ({ recordId, name, count, day })),
  ]
}
