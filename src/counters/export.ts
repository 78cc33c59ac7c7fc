import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { toText } from '../database/text.ts'

const LARGEST_ID = 2n ** 64n - 1n

/** A counter, or one day of it, on its way out. */
export interface ExportRow {
  recordId: bigint
  /** The key as it was sent; `null` for integer keys, and where the name could not be stored yet. */
  name: string | null
  count: bigint
  /** `2026-11-20`, UTC; `null`: all of it, or what belongs to no day. */
  day: string | null
}

/** Some of a type's rows. */
export interface ExportPage {
  rows: readonly ExportRow[]
  /** The record id after which to go on; `null`: that was all. */
  next: bigint | null
}

/** Which page to read. */
export interface ExportOptions {
  recordType: number
  /** The record id after which the page begins; `null`: the first page. */
  after: bigint | null
  limit: number
}

/**
 * Reads counters in the order of their record ids, total and pending slots from one snapshot.
 *
 * @throws {DatabaseFailure}
 */
export async function exportTotals(db: Executor, { recordType, after, limit }: ExportOptions): Promise<ExportPage> {
  const from = after === null ? 0n : after + 1n
  if (from > LARGEST_ID) return { rows: [], next: null }
  // The first counters of either table: whatever is among the first of both together is among the first of its own.
  const { rows } = await db.execute(
    `SELECT c.record_id, c.count, n.name FROM (
       SELECT record_id, SUM(count) AS count FROM (
         (SELECT record_id, count FROM counter_totals FORCE INDEX (PRIMARY)
          WHERE record_type = ? AND record_id >= ? ORDER BY record_id LIMIT ?)
         UNION ALL
         (SELECT record_id, SUM(count) FROM slotted_counters FORCE INDEX (pending)
          WHERE pending = 1 AND record_type = ? AND record_id >= ? GROUP BY record_id ORDER BY record_id LIMIT ?)
       ) AS parts GROUP BY record_id ORDER BY record_id LIMIT ?) AS c
     LEFT JOIN counter_names AS n ON n.record_type = ? AND n.record_id = c.record_id
     ORDER BY c.record_id`,
    [recordType, from, limit, recordType, from, limit, limit, recordType],
  )
  const page = rows.map((row): ExportRow => {
    return { recordId: toBigInt(row.record_id), name: toName(row.name), count: toBigInt(row.count), day: null }
  })
  return { rows: page, next: page.length < limit ? null : page.at(-1)!.recordId }
}

/**
 * Reads the days of counters in the order of their record ids. What is pending belongs to the present day; what is in the total
 * and in no day is a row without one. A counter's rows are from one snapshot, together with those of the whole page, and add
 * up to its count. So a counter is never cut in two: the page ends with the one in which it has reached its limit.
 *
 * @param now whose day is the present one
 * @throws {DatabaseFailure}
 */
export async function exportDays(
  db: Executor,
  { recordType, after, limit, now }: ExportOptions & { now: Date },
): Promise<ExportPage> {
  const from = after === null ? 0n : after + 1n
  if (from > LARGEST_ID) return { rows: [], next: null }
  const found = await db.execute(
    `SELECT record_id FROM (
       (SELECT record_id FROM counter_totals FORCE INDEX (PRIMARY)
        WHERE record_type = ? AND record_id >= ? ORDER BY record_id LIMIT ?)
       UNION ALL
       (SELECT record_id FROM counter_periods FORCE INDEX (PRIMARY)
        WHERE record_type = ? AND record_id >= ? AND period = 1 ORDER BY record_id LIMIT ?)
       UNION ALL
       (SELECT record_id FROM slotted_counters FORCE INDEX (pending)
        WHERE pending = 1 AND record_type = ? AND record_id >= ? GROUP BY record_id ORDER BY record_id LIMIT ?)
     ) AS ids ORDER BY record_id LIMIT ?`,
    [recordType, from, limit, recordType, from, limit, recordType, from, limit, limit],
  )
  const last = found.rows.at(-1)
  if (last === undefined) return { rows: [], next: null }
  const upTo = toBigInt(last.record_id)
  const range = [recordType, from, upTo]
  const { rows } = await db.execute(
    `SELECT t.record_id, 'total' AS part, NULL AS day, t.count, n.name
       FROM counter_totals AS t FORCE INDEX (PRIMARY)
       LEFT JOIN counter_names AS n ON n.record_type = t.record_type AND n.record_id = t.record_id
       WHERE t.record_type = ? AND t.record_id >= ? AND t.record_id <= ?
     UNION ALL SELECT record_id, 'day', period_start, count, NULL
       FROM counter_periods FORCE INDEX (PRIMARY)
       WHERE record_type = ? AND record_id >= ? AND record_id <= ? AND period = 1
     UNION ALL SELECT s.record_id, 'pending', NULL, s.count, n.name FROM (
         SELECT record_id, SUM(count) AS count FROM slotted_counters FORCE INDEX (pending)
         WHERE pending = 1 AND record_type = ? AND record_id >= ? AND record_id <= ? GROUP BY record_id) AS s
       LEFT JOIN counter_names AS n ON n.record_type = ? AND n.record_id = s.record_id`,
    [...range, ...range, ...range, recordType],
  )
  const next = found.rows.length < limit ? null : upTo
  return { rows: byDay(rows, now.toISOString().slice(0, 10)), next }
}

/** Makes a counter's total, days and pending slots into days, and one row for what is in none of them. */
function byDay(parts: readonly Record<string, unknown>[], today: string): ExportRow[] {
  const counters = new Map<bigint, { name: string | null; undated: bigint; days: Map<string, bigint> }>()
  for (const part of parts) {
    const recordId = toBigInt(part.record_id)
    const count = toBigInt(part.count)
    let counter = counters.get(recordId)
    if (counter === undefined) {
      counter = { name: null, undated: 0n, days: new Map() }
      counters.set(recordId, counter)
    }
    counter.name ??= toName(part.name)
    if (part.part === 'total') counter.undated += count
    else {
      const day = part.part === 'day' ? String(part.day) : today
      counter.days.set(day, (counter.days.get(day) ?? 0n) + count)
      if (part.part === 'day') counter.undated -= count
    }
  }
  return [...counters]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([recordId, { name, undated, days }]) => [
      ...(undated === 0n && days.size > 0 ? [] : [{ recordId, name, count: undated, day: null }]),
      ...[...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, count]) => ({ recordId, name, count, day })),
    ])
}

/** A name, if it is stored. */
function toName(value: unknown): string | null {
  return value === null || value === undefined ? null : toText(value)
}
