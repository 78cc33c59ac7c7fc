import type { Executor } from '../../database/database.ts'
import { toBigInt, toText } from '../../database/values.ts'
import { dayText } from '../calendar.ts'
import { LARGEST_ID } from '../ranges.ts'

export interface ExportRow {
  recordId: bigint
  /** Empty only if the name is missing, which must not be. */
  name: string
  count: bigint
  /** `2026-11-20`, UTC; `null` for the whole count, or for the part without a day. */
  day: string | null
}

export interface ExportPage {
  rows: readonly ExportRow[]
  /** The record id before the next page; `null` after the last page. */
  next: bigint | null
}

export interface ExportOptions {
  recordType: number
  /** The record id before the page; `null` for the first page. */
  after: bigint | null
  limit: number
}

/** Tables with rows of the counters to export, and the condition on them beyond type and record id. */
const TOTALS = 'counter_totals FORCE INDEX (PRIMARY) WHERE'
const DAYS = 'counter_periods FORCE INDEX (PRIMARY) WHERE period = 1 AND'
const PENDING = 'slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND'

const OF_TYPE = 'record_type = ? AND record_id >= ?'
const IN_RANGE = `${OF_TYPE} AND record_id <= ?`
const nameOf = (table: string) =>
  `(SELECT name FROM counter_names AS n WHERE n.record_type = ${table}.record_type AND n.record_id = ${table}.record_id) AS name`

/**
 * Reads counts in the order of record ids. Total and pending slots of a counter are from one snapshot. The first statement
 * finds the end of the page, the second reads up to it: vtgate sends it whole to each shard, which it would not do with a LIMIT
 * in each part.
 */
export async function exportTotals(db: Executor, options: ExportOptions): Promise<ExportPage> {
  const { recordType, limit } = options
  const found = await findIds(db, options, [TOTALS, PENDING])
  const ids = [...new Set(found)]
  const upTo = ids[limit - 1] ?? ids.at(-1)
  if (upTo === undefined) return { rows: [], next: null }
  const range = [recordType, firstOf(options), upTo]
  const { rows } = await db.execute(
    `SELECT record_id, count, ${nameOf('counter_totals')} FROM ${TOTALS} ${IN_RANGE}
     UNION ALL SELECT record_id, SUM(count), ${nameOf('slotted_counters')} FROM ${PENDING} ${IN_RANGE}
       GROUP BY record_type, record_id`,
    [...range, ...range],
  )
  const counters = new Map<bigint, ExportRow>()
  for (const row of rows) {
    const recordId = toBigInt(row.record_id)
    const count = toBigInt(row.count) + (counters.get(recordId)?.count ?? 0n)
    counters.set(recordId, { recordId, name: toText(row.name ?? ''), count, day: null })
  }
  const page = [...counters.values()].sort((a, b) => (a.recordId < b.recordId ? -1 : 1)).slice(0, limit)
  return { rows: page, next: page.length < limit ? null : page.at(-1)!.recordId }
}

/**
 * Reads the days of counters in the order of record ids. Pending counts belong to the current day. The part of a total that is
 * in no day becomes a row without a day. The rows of a counter are from one snapshot, so they add up to its count. To that end,
 * pages end between counters.
 * @param now an instant of the current day
 */
export async function exportDays(db: Executor, options: ExportOptions & { now: Date }): Promise<ExportPage> {
  const { recordType, limit, now } = options
  const found = await findIds(db, options, [TOTALS, DAYS, PENDING])
  const upTo = found[limit - 1] ?? found.at(-1)
  if (upTo === undefined) return { rows: [], next: null }
  const range = [recordType, firstOf(options), upTo]
  const { rows } = await db.execute(
    `SELECT record_id, 'total' AS part, NULL AS day, count, ${nameOf('counter_totals')} FROM ${TOTALS} ${IN_RANGE}
     UNION ALL SELECT record_id, 'day', period_start, count, NULL FROM ${DAYS} ${IN_RANGE}
     UNION ALL SELECT record_id, 'pending', NULL, SUM(count), ${nameOf('slotted_counters')} FROM ${PENDING} ${IN_RANGE}
       GROUP BY record_type, record_id`,
    [...range, ...range, ...range],
  )
  const next = found.length < limit ? null : upTo
  return { rows: byDay(rows, dayText(now)), next }
}

function firstOf({ after }: ExportOptions): bigint {
  return after === null ? 0n : after + 1n
}

/** The record ids of the next rows of each table, in order: enough to find the end of the page. */
async function findIds(db: Executor, options: ExportOptions, tables: readonly string[]): Promise<bigint[]> {
  const { recordType, limit } = options
  const first = firstOf(options)
  if (first > LARGEST_ID) return []
  const part = (table: string) => {
    const grouped = table === PENDING ? 'GROUP BY record_id' : ''
    return `(SELECT record_id FROM ${table} ${OF_TYPE} ${grouped} ORDER BY record_id LIMIT ?)`
  }
  const { rows } = await db.execute(
    tables.map(part).join(' UNION ALL '),
    tables.flatMap(() => [recordType, first, limit]),
  )
  return rows.map(({ record_id }) => toBigInt(record_id)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

function byDay(parts: readonly Record<string, unknown>[], today: string): ExportRow[] {
  return [...Map.groupBy(parts, ({ record_id }) => toBigInt(record_id))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([recordId, rows]) => {
      // Days have none. Their counter has a total.
      const name = toText(rows.find(({ name }) => name !== null)?.name ?? '')
      const days = new Map<string, bigint>()
      let undated = 0n
      for (const row of rows) {
        const count = toBigInt(row.count)
        if (row.part === 'total') undated += count
        if (row.part === 'day') undated -= count
        const day = row.part === 'day' ? String(row.day) : today
        if (row.part !== 'total') days.set(day, (days.get(day) ?? 0n) + count)
      }
      return [
        ...(undated === 0n && days.size > 0 ? [] : [{ recordId, name, count: undated, day: null }]),
        ...[...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, count]) => ({ recordId, name, count, day })),
      ]
    })
}
