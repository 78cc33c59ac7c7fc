import type { Database, Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, DAY_MS, dayText, HOUR_MS, timeText } from '../calendar.ts'
import { LARGEST_ID } from '../ranges.ts'
import { confirmMismatches, firstDayWithHours, type HourRule, MAX_WRONG, type Mismatch } from './mismatch.ts'

export const MAX_VERIFIED = 500
/** Rows per counter that a page may read. It ends early when they are used up. A larger counter gets its own page. */
const ROWS_PER_COUNTER = 40

/** Earlier and later than any period. */
const [FIRST, LAST] = ['1000-01-01', '9999-12-31']

/** Where a page begins. Counters come first, then the days of types, their hours, and their weeks and months. */
export type VerifyPosition =
  | { phase: 'counters'; recordType: number; recordId: bigint }
  | { phase: 'days'; recordType: number; start: string }
  | { phase: 'hours'; start: string }
  | { phase: 'calendar'; recordType: number }

export const FIRST_POSITION: VerifyPosition = { phase: 'counters', recordType: 0, recordId: 0n }

/** A position as a text of at most 40 characters. */
export function writePosition(position: VerifyPosition): string {
  switch (position.phase) {
    case 'counters':
      return `counters.${position.recordType}.${position.recordId}`
    case 'days':
      return `days.${position.recordType}.${position.start}`
    case 'hours':
      return `hours.${position.start.replace(' ', 'T')}`
    case 'calendar':
      return `calendar.${position.recordType}`
  }
}

/** `null` for a text that is not of `writePosition`. */
export function readPosition(text: string): VerifyPosition | null {
  const counter = /^counters\.(\d{1,5})\.(\d{1,20})$/.exec(text)
  if (counter !== null) {
    const recordId = BigInt(counter[2]!)
    return recordId > LARGEST_ID ? null : { phase: 'counters', recordType: Number(counter[1]), recordId }
  }
  const day = /^days\.(\d{1,5})\.(\d{4}-\d\d-\d\d|)$/.exec(text)
  if (day !== null && isStart(day[2]!)) return { phase: 'days', recordType: Number(day[1]), start: day[2]! }
  const hour = /^hours\.(\d{4}-\d\d-\d\d(?:T\d\d:00:00)?|)$/.exec(text)
  if (hour !== null && isStart(hour[1]!)) return { phase: 'hours', start: hour[1]!.replace('T', ' ') }
  const calendar = /^calendar\.(\d{1,5})$/.exec(text)
  return calendar && { phase: 'calendar', recordType: Number(calendar[1]) }
}

/** Whether a day or an hour exists, and is not earlier than MySQL knows; empty for the first one. */
function isStart(text: string): boolean {
  const time = new Date(text.length > 10 ? `${text}Z` : text)
  return text === '' || (!Number.isNaN(time.getTime()) && time.toISOString().startsWith(text) && text >= FIRST)
}

interface VerifiedPage {
  /** Counters checked; 0 for the pages at the end, which check types. */
  checked: number
  wrong: Mismatch[]
  next: VerifyPosition | null
}

/** Where the next phase begins, after the last type. */
const AFTER: Record<'counters' | 'days' | 'calendar', VerifyPosition | null> = {
  counters: { phase: 'days', recordType: 0, start: '' },
  days: { phase: 'hours', start: '' },
  calendar: null,
}

interface VerifyOptions extends HourRule {
  from: VerifyPosition
  limit: number
}

/**
 * Checks one page: whether the tables agree with each other. `Mismatch.what` lists the sums. Each comparison is one statement,
 * so it reads from one snapshot: concurrent roll-ups, settings and imports are seen whole or not at all. Even so, a mismatch is
 * read a second time, and reported only if it persists. Pending slots would be on both sides of every sum, so they are not
 * read.
 */
export async function verifyPage(db: Database, options: VerifyOptions): Promise<VerifiedPage> {
  const { from } = options
  const rows = Math.min(options.limit, MAX_VERIFIED) * ROWS_PER_COUNTER
  if (from.phase === 'hours') {
    const { wrong, next } = await verifyTypeHours(db, options, from.start, rows)
    return {
      checked: 0,
      wrong,
      next: next === null ? { phase: 'calendar', recordType: 0 } : { phase: 'hours', start: next },
    }
  }
  const recordType = await nextRecordType(db, from.recordType)
  if (recordType === null) return { checked: 0, wrong: [], next: AFTER[from.phase] }
  const continues = recordType === from.recordType
  switch (from.phase) {
    case 'counters': {
      const recordId = continues ? from.recordId : 0n
      const { checked, wrong, next } = await verifyCounters(db, { ...options, recordType, recordId, rows })
      return { checked, wrong, next: { phase: 'counters', ...(next ?? { recordType: recordType + 1, recordId: 0n }) } }
    }
    case 'days': {
      const { wrong, next } = await verifyTypeDays(db, recordType, continues ? from.start : '', rows)
      const start = next === null ? { recordType: recordType + 1, start: '' } : { recordType, start: next }
      return { checked: 0, wrong, next: { phase: 'days', ...start } }
    }
    case 'calendar': {
      const wrong = await verifyTypeCalendar(db, recordType)
      return { checked: 0, wrong, next: { phase: 'calendar', recordType: recordType + 1 } }
    }
  }
}

interface CounterPage extends HourRule {
  recordType: number
  recordId: bigint
  limit: number
  /** The most rows of each table, unless a single counter has more. */
  rows: number
}

/** The first record type, from a number on, that has anything to check; `null` if there is none. */
async function nextRecordType(db: Executor, recordType: number): Promise<number | null> {
  const tables = ['counter_totals', 'counter_periods', 'counter_history', 'counter_adjustments', 'type_history']
  const selects = tables.map((table) => `SELECT MIN(record_type) AS record_type FROM ${table} WHERE record_type >= ?`)
  const { rows } = await db.execute(
    `SELECT MIN(record_type) AS record_type FROM (${selects.join(' UNION ALL ')}) AS types`,
    Array(tables.length).fill(recordType),
  )
  const first = rows[0]?.record_type ?? null
  return first === null ? null : Number(first)
}

/**
 * Checks counters of one type, in the order of their ids.
 * @returns `next`: where the next page of the type begins; `null` if there is none
 */
async function verifyCounters(
  db: Executor,
  page: CounterPage,
): Promise<{ checked: number; wrong: Mismatch[]; next: { recordType: number; recordId: bigint } | null }> {
  const { checked, last } = await findCounters(db, page)
  const read = async () => {
    const from = await firstDayWithHours(db, page)
    return compare(db, { ...page, last, from })
  }
  const wrong = checked === 0 ? [] : await confirmMismatches(read, page.recordType)
  const next = last === LARGEST_ID ? null : { recordType: page.recordType, recordId: last + 1n }
  return { checked, wrong, next }
}

async function findCounters(
  db: Executor,
  { recordType, recordId, limit, rows: maxRows }: CounterPage,
): Promise<{ checked: number; last: bigint }> {
  const tables = ['counter_totals', 'counter_adjustments', 'counter_periods', 'counter_history']
  const { rows } = await db.execute(
    tables
      .map(
        (table, index) =>
          // The inner limit bounds what is read, the outer one what is returned.
          `(SELECT ${index} AS part, record_id, COUNT(*) AS found FROM (
             SELECT record_id FROM ${table} FORCE INDEX (PRIMARY) WHERE record_type = ? AND record_id >= ?
             ORDER BY record_id LIMIT ?) AS part_${index}
           GROUP BY record_id ORDER BY record_id LIMIT ?)`,
      )
      .join(' UNION ALL '),
    // A counter has only one total.
    tables.flatMap((table) => [recordType, recordId, table === 'counter_totals' ? limit : maxRows, limit]),
  )
  const parts = tables.map(() => ({ ids: [] as bigint[], found: 0 }))
  for (const row of rows) {
    const part = parts[Number(row.part)]!
    part.ids.push(toBigInt(row.record_id))
    part.found += Number(toBigInt(row.found))
  }
  let last = LARGEST_ID
  const reachTo = (id: bigint | undefined) => {
    if (id !== undefined && id < last) last = id
  }
  for (const { ids, found } of parts) {
    // The last counter may have more rows than were read, so it is left to the next page, unless it is the only one.
    if (found >= maxRows) reachTo(ids.at(-2) ?? ids.at(-1))
  }
  const ids = [...new Set(parts.flatMap((part) => part.ids))].sort((a, b) => (a < b ? -1 : 1))
  reachTo(ids[limit - 1])
  return { checked: ids.filter((id) => id <= last).length, last }
}

async function compare(
  db: Executor,
  { recordType, recordId, last, from }: CounterPage & { last: bigint; from: string },
) {
  const range = `record_type = ${recordType} AND record_id >= ${recordId} AND record_id <= ${last}`
  const periods = `FROM counter_periods FORCE INDEX (PRIMARY) WHERE ${range} AND period =`
  // An import adds to days but not to hours, and only to days up to that on which it was made.
  const imported = `LEFT JOIN (SELECT record_id AS imported_id, DATE(MAX(adjusted_at)) AS imported_on
      FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${range} AND kind = 2 GROUP BY record_id) AS i ON imported_id = record_id`
  return db.execute(
    `SELECT record_id, what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
       SELECT record_id, 'total' AS what, CAST(NULL AS DATE) AS start, count AS recorded, 0 AS expected
         FROM counter_totals FORCE INDEX (PRIMARY) WHERE ${range}
       UNION ALL SELECT record_id, 'total', NULL, 0, SUM(count) FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${range}
         GROUP BY record_id
       UNION ALL SELECT record_id, 'total', NULL, 0, SUM(count) ${periods} 1 GROUP BY record_id
       UNION ALL SELECT record_id, 'week', period_start, count, 0 ${periods} 2
       UNION ALL SELECT record_id, 'week', period_start - INTERVAL WEEKDAY(period_start) DAY, 0, count ${periods} 1
       UNION ALL SELECT record_id, 'month', period_start, count, 0 ${periods} 3
       UNION ALL SELECT record_id, 'month', period_start - INTERVAL DAYOFMONTH(period_start) - 1 DAY, 0, count ${periods} 1
       UNION ALL SELECT record_id, 'hours', period_start, 0, count FROM counter_periods FORCE INDEX (PRIMARY) ${imported}
         WHERE ${range} AND period = 1 AND period_start >= '${from}'
           AND (imported_on IS NULL OR period_start > imported_on)
       UNION ALL SELECT record_id, 'hours', DATE(period_start), count, 0 FROM counter_history FORCE INDEX (PRIMARY) ${imported}
         WHERE ${range} AND period_start >= '${from}' AND (imported_on IS NULL OR DATE(period_start) > imported_on)
     ) AS parts
     GROUP BY record_id, what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY record_id, what, start LIMIT ${MAX_WRONG}`,
  )
}

interface PeriodPage {
  wrong: Mismatch[]
  next: string | null
}

/**
 * Checks the days of a type against those of its counters. A day is never split between pages, because only one statement reads
 * from one snapshot. vtgate sends the statement whole to each shard and adds up the results. A roll-up changes both sides of a
 * shard's sums in one transaction, so it does not matter when each shard is read. To that end, parts of the union must not be
 * grouped.
 * @param start the day to begin with; empty for the first day
 * @param rows the number of rows after which the page ends, at the end of a day
 */
async function verifyTypeDays(db: Executor, recordType: number, start: string, rows: number): Promise<PeriodPage> {
  const begin = start || FIRST
  const index = 'FROM counter_periods FORCE INDEX (ranking) WHERE record_type = ? AND period = 1 AND period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [recordType, begin], rows)
  const read = () =>
    db.execute(
      `SELECT 'day' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         SELECT period_start AS start, count AS recorded, 0 AS expected FROM type_history
           WHERE record_type = ? AND period = 1 AND period_start BETWEEN ? AND ?
         UNION ALL SELECT period_start, 0, count ${index} BETWEEN ? AND ?
       ) AS parts GROUP BY start HAVING SUM(recorded) <> SUM(expected) ORDER BY start LIMIT ${MAX_WRONG}`,
      [recordType, begin, last, recordType, begin, last],
    )
  return { wrong: await confirmMismatches(read, recordType), next }
}

/**
 * Checks the hours of all types against those of their counters, for days whose hours are kept.
 * @param start the hour to begin with; empty for the first hour
 * @param rows the number of rows after which the page ends, at the end of an hour
 */
async function verifyTypeHours(db: Executor, rule: HourRule, start: string, rows: number): Promise<PeriodPage> {
  const begin = start || (await firstDayWithHours(db, rule))
  const index = 'FROM counter_history FORCE INDEX (period_start) WHERE period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [begin], rows)
  const read = async () => {
    // Read again each time: a type that is too new for the first list is in the second one.
    const known = await db.execute('SELECT DISTINCT record_type FROM type_history WHERE record_type >= 0')
    const types = known.rows.map((row) => Number(row.record_type))
    const kept = await firstDayWithHours(db, rule)
    const range = [begin > kept ? begin : kept, last]
    return db.execute(
      `SELECT record_type, 'hour' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         ${types
           .map(
             () => `SELECT record_type, period_start AS start, count AS recorded, 0 AS expected FROM type_history
                    WHERE record_type = ? AND period = 0 AND period_start BETWEEN ? AND ? UNION ALL `,
           )
           .join('')}
         SELECT record_type, period_start AS start, 0 AS recorded, count AS expected ${index} BETWEEN ? AND ?
       ) AS parts GROUP BY record_type, start HAVING SUM(recorded) <> SUM(expected)
       ORDER BY record_type, start LIMIT ${MAX_WRONG}`,
      [...types.flatMap((recordType) => [recordType, ...range]), ...range],
    )
  }
  return { wrong: await confirmMismatches(read), next }
}

/** The last period of a page, by the number of rows, and the first one of the next page. */
async function findPeriods(
  db: Executor,
  from: string,
  args: readonly unknown[],
  maxRows: number,
): Promise<{ last: string; next: string | null }> {
  const { rows } = await db.execute(
    `SELECT MAX(period_start) AS last, COUNT(*) AS found FROM (
       SELECT period_start ${from} ORDER BY period_start LIMIT ?) AS parts`,
    [...args, maxRows],
  )
  if (Number(toBigInt(rows[0]?.found)) < maxRows) return { last: LAST, next: null }
  const last = String(rows[0]?.last)
  // The next day or hour: there is nothing in between.
  const start = Date.parse(`${last.slice(0, 10)}T${last.slice(11, 19) || '00:00:00'}Z`)
  return { last, next: last.length > 10 ? timeText(start + HOUR_MS) : dayText(start + DAY_MS) }
}

/** Checks the weeks and months of a type against its days, and its adjustments against those of its counters. */
async function verifyTypeCalendar(db: Executor, recordType: number): Promise<Mismatch[]> {
  const history = `FROM type_history WHERE record_type = ${recordType} AND period =`
  const read = () =>
    db.execute(
      `SELECT what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         SELECT 'week' AS what, period_start AS start, count AS recorded, 0 AS expected ${history} 2
         UNION ALL SELECT 'week', period_start - INTERVAL WEEKDAY(period_start) DAY, 0, count ${history} 1
         UNION ALL SELECT 'month', period_start, count, 0 ${history} 3
         UNION ALL SELECT 'month', period_start - INTERVAL DAYOFMONTH(period_start) - 1 DAY, 0, count ${history} 1
         UNION ALL SELECT 'adjustments', NULL, count, 0 ${history} ${ADJUSTMENTS_SUM}
         UNION ALL SELECT 'adjustments', NULL, 0, count FROM counter_adjustments FORCE INDEX (PRIMARY)
           WHERE record_type = ${recordType}
       ) AS parts GROUP BY what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY what, start LIMIT ${MAX_WRONG}`,
    )
  return confirmMismatches(read, recordType)
}
