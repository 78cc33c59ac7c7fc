import type { Database, Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, DAY_MS, dayText, HOUR_MS, midnightOf, startOf, timeText } from '../calendar.ts'
import { counterSql } from '../counters-sql.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import { readOldestHour } from '../ledger/periods.ts'
import { LARGEST_ID } from '../ranges.ts'

export const MAX_VERIFIED = 500
/** Rows per counter that a page may read. It ends early when they are used up. A larger counter gets its own page. */
const ROWS_PER_COUNTER = 40

/** Earlier and later than any period. */
const [FIRST, LAST] = ['1000-01-01', '9999-12-31']

export const MISMATCHES = ['total', 'hours', 'hour', 'day', 'month', 'adjustments'] as const

/** Mismatches of one statement. */
const MAX_WRONG = 1_000

export interface Mismatch {
  recordType: number
  recordId: bigint | null
  /**
   * The rule that is broken:
   *
   * - `total` of a counter: it is the sum of its days and adjustments;
   * - `hours` of a counter: a day is the sum of its hours, if all of them are kept (`HourRule`);
   * - `hour`, `day` and `adjustments` of a type: each is the sum over its counters;
   * - `week` and `month` of a counter or type: each is the sum of the days in it.
   */
  what: (typeof MISMATCHES)[number]
  /** The first day of the period, `2026-11-20`, or the hour, `2026-11-20T10:00:00Z`; `null` for totals and adjustments. */
  start: string | null
  is: bigint
  shouldBe: bigint
}

/**
 * Determines the days for which all hours must be kept. Hours expire, oldest first, after `hourDays`, and raising that does not
 * bring them back. So hours are checked from the day after the oldest hour, or since yesterday, and not for days that may be
 * expiring now.
 */
interface HourRule {
  at: Date
  hourDays: number
}

const PHASES = { counters: verifyCounters, days: verifyTypes, hours: verifyTypeHours }
type Phase = keyof typeof PHASES

/**
 * Where a page begins: its phase, record type and start, in at most 40 characters. The phases follow each other: counters; the
 * days, weeks and months of types; their hours, of all types (0) at once. The start is a record id, a day, or an hour such as
 * `2026-11-20T10:00:00`; empty for the first one.
 */
const POSITION = /^(counters\.\d{1,5}|days\.\d{1,5}|hours\.0)\.([\dT:-]*)$/
const HOUR = /T(?:[01]\d|2[0-3]):00:00$/

export const FIRST_POSITION = 'counters.0.'

export function isPosition(text: string): boolean {
  const [, phase, start = ''] = POSITION.exec(text) ?? []
  if (phase === undefined || start === '') return phase !== undefined
  if (phase.startsWith('counters')) return /^\d{1,20}$/.test(start) && BigInt(start) <= LARGEST_ID
  const day = phase === 'hours.0' ? start.replace(HOUR, '') : start
  return midnightOf(day) >= Date.parse(FIRST)
}

/** A page of one type, or of the hours of all types. */
interface Page extends HourRule {
  recordType: number
  start: string
  limit: number
  /** The most rows of each table, unless a single counter, day or hour has more. */
  rows: number
}

interface CheckedPage {
  /** Counters checked; none on the pages at the end, which check types. */
  checked?: number
  wrong: Mismatch[]
  /** The start of the next page of the type; `null` if there is none. */
  next: string | null
}

/**
 * Checks one page: whether the tables agree with each other. `Mismatch.what` lists the sums. Each comparison is one statement,
 * so it reads from one snapshot: concurrent roll-ups, settings and imports are seen whole or not at all. Even so, a mismatch is
 * read a second time, and reported only if it persists. Pending slots would be on both sides of every sum, so they are not
 * read.
 * @param options `from`: a position; `limit`: the most counters
 * @returns `next`: the position of the next page; `null` after the last one
 */
export async function verifyPage(
  db: Database,
  { from, limit, ...rule }: HourRule & { from: string; limit: number },
): Promise<{ checked: number; wrong: Mismatch[]; next: string | null }> {
  const [phase, type, begin] = from.split('.') as [Phase, string, string]
  const recordType = phase === 'hours' ? 0 : await nextRecordType(db, Number(type))
  if (recordType === null) return { checked: 0, wrong: [], next: phase === 'counters' ? 'days.0.' : 'hours.0.' }
  const start = recordType === Number(type) ? begin : ''
  const rows = Math.min(limit, MAX_VERIFIED) * ROWS_PER_COUNTER
  const { checked = 0, wrong, next } = await PHASES[phase](db, { ...rule, recordType, start, limit, rows })
  const following = phase === 'hours' ? null : `${phase}.${recordType + 1}.`
  return { checked, wrong, next: next === null ? following : `${phase}.${recordType}.${next}` }
}

/** The first record type, from a number on, that has anything to check; `null` if there is none. */
async function nextRecordType(db: Executor, recordType: number): Promise<number | null> {
  const tables = ['counters', 'counter_periods', 'counter_history', 'counter_adjustments', 'type_history']
  const selects = tables.map((table) => `SELECT MIN(record_type) AS record_type FROM ${table} WHERE record_type >= ?`)
  const { rows } = await db.execute(
    `SELECT MIN(record_type) AS record_type FROM (${selects.join(' UNION ALL ')}) AS types`,
    Array(tables.length).fill(recordType),
  )
  const first = rows[0]?.record_type ?? null
  return first === null ? null : Number(first)
}

/** Checks counters, in the order of their ids. */
async function verifyCounters(db: Executor, page: Page): Promise<CheckedPage> {
  const { checked, last } = await findCounters(db, page)
  const range = `record_type = ${page.recordType} AND record_id >= ${BigInt(page.start)} AND record_id <= ${last}`
  const read = async () => compare(db, range, await firstDayWithHours(db, page))
  const wrong = checked === 0 ? [] : await confirmMismatches(read, page.recordType)
  return { checked, wrong, next: last === LARGEST_ID ? null : String(last + 1n) }
}

async function findCounters(
  db: Executor,
  { recordType, start, limit, rows: maxRows }: Page,
): Promise<{ checked: number; last: bigint }> {
  const tables = ['counters', 'counter_adjustments', 'counter_periods', 'counter_history']
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
    tables.flatMap((table) => [recordType, BigInt(start), table === 'counters' ? limit : maxRows, limit]),
  )
  const found = rows.map((row) => ({ part: row.part, id: toBigInt(row.record_id), rows: Number(row.found) }))
  const ids = [...new Set(found.map(({ id }) => id))].sort((a, b) => (a < b ? -1 : 1))
  const ends = ids.slice(limit - 1, limit)
  for (const part of Map.groupBy(found, ({ part }) => part).values()) {
    const isFull = part.reduce((sum, { rows }) => sum + rows, 0) >= maxRows
    // The last counter may have more rows than were read, so it is left to the next page, unless it is the only one.
    if (isFull) ends.push((part.at(-2) ?? part.at(-1)!).id)
  }
  const last = ends.reduce((a, b) => (a < b ? a : b), LARGEST_ID)
  return { checked: ids.filter((id) => id <= last).length, last }
}

/** @param range an SQL condition on counters @param from the first day from which hours are checked */
async function compare(db: Executor, range: string, from: string) {
  const periods = `FROM counter_periods FORCE INDEX (PRIMARY) WHERE ${range} AND period =`
  // An import adds to days but not to hours, and only to days up to that on which it was made.
  const imported = `LEFT JOIN (SELECT record_id AS imported_id, DATE(MAX(adjusted_at)) AS imported_on
      FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${range} AND kind = 2 GROUP BY record_id) AS i ON imported_id = record_id`
  return db.execute(
    `SELECT record_id, what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
       SELECT record_id, 'total' AS what, CAST(NULL AS DATE) AS start, count AS recorded, 0 AS expected
         FROM counters FORCE INDEX (PRIMARY) WHERE ${range}
       UNION ALL SELECT record_id, 'total', NULL, 0, SUM(count) FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${range}
         GROUP BY record_id
       UNION ALL SELECT record_id, 'total', NULL, 0, SUM(count) ${periods} 1 GROUP BY record_id
       UNION ALL SELECT record_id, 'month', period_start, count, 0 ${periods} 2
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

/**
 * Checks the days of a type against those of its counters, and on its first page what stands beside them. A day is never split between pages, because only one statement reads
 * from one snapshot. vtgate sends the statement whole to each shard and adds up the results. A roll-up changes both sides of a
 * shard's sums in one transaction, so it does not matter when each shard is read. To that end, parts of the union must not be
 * grouped.
 */
async function verifyTypes(db: Executor, { recordType, start, rows }: Page): Promise<CheckedPage> {
  const begin = start || FIRST
  const index = 'FROM counter_periods FORCE INDEX (ranking) WHERE record_type = ? AND period = 1 AND period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [recordType, begin], rows)
  const read = () => compareDays(db, recordType, `BETWEEN '${begin}' AND '${last}'`)
  const beside = start === '' ? await verifyTypeCalendar(db, recordType) : []
  return { wrong: [...beside, ...(await confirmMismatches(read, recordType))], next }
}

/** @param days an SQL condition on days, without their column */
function compareDays(db: Executor, recordType: number, days: string) {
  const ofType = `WHERE record_type = ${recordType} AND period = 1 AND period_start ${days}`
  return db.execute(
    `SELECT 'day' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
       SELECT period_start AS start, count AS recorded, 0 AS expected FROM type_history ${ofType}
       UNION ALL SELECT period_start, 0, count FROM counter_periods FORCE INDEX (ranking) ${ofType}
     ) AS parts GROUP BY start HAVING SUM(recorded) <> SUM(expected) ORDER BY start LIMIT ${MAX_WRONG}`,
  )
}

/** Checks the weeks and months of a type against its days, and its adjustments against those of its counters. */
async function verifyTypeCalendar(db: Executor, recordType: number): Promise<Mismatch[]> {
  return confirmMismatches(() => compareCalendar(db, recordType), recordType)
}

function compareCalendar(db: Executor, recordType: number) {
  const history = `FROM type_history WHERE record_type = ${recordType} AND period =`
  return db.execute(
    `SELECT what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         SELECT 'month' AS what, period_start AS start, count AS recorded, 0 AS expected ${history} 2
         UNION ALL SELECT 'month', period_start - INTERVAL DAYOFMONTH(period_start) - 1 DAY, 0, count ${history} 1
         UNION ALL SELECT 'adjustments', NULL, count, 0 ${history} ${ADJUSTMENTS_SUM}
         UNION ALL SELECT 'adjustments', NULL, 0, count FROM counter_adjustments FORCE INDEX (PRIMARY)
           WHERE record_type = ${recordType}
       ) AS parts GROUP BY what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY what, start LIMIT ${MAX_WRONG}`,
  )
}

/**
 * What is wrong with one counter, whose row is locked.
 * @param firstDay as `firstDayWithHours` returns it, from before the transaction
 */
export async function counterMismatches(db: Executor, counter: CounterPlace, firstDay: string): Promise<Mismatch[]> {
  const { rows } = await compare(db, counterSql(counter), firstDay)
  return rows.map((row) => toMismatch(row, counter.recordType))
}

/** What is wrong with some days of a type and their hours, and with its weeks, months and adjustments. */
export async function typeMismatches(db: Executor, recordType: number, days: readonly string[]): Promise<Mismatch[]> {
  const ofDays = [
    () => compareDays(db, recordType, `IN (${days.map((day) => `'${day}'`).join(',')})`),
    () => compareHours(db, recordType, days),
  ]
  const parts = [compareCalendar(db, recordType), ...(days.length > 0 ? ofDays.map((read) => read()) : [])]
  return (await Promise.all(parts)).flatMap(({ rows }) => rows.map((row) => toMismatch(row, recordType)))
}

function compareHours(db: Executor, recordType: number, days: readonly string[]) {
  const within = days.map((day) => `period_start >= '${day}' AND period_start < '${day}' + INTERVAL 1 DAY`).join(' OR ')
  return db.execute(
    `SELECT 'hour' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
       SELECT period_start AS start, count AS recorded, 0 AS expected FROM type_history
         WHERE record_type = ${recordType} AND period = 0 AND (${within})
       UNION ALL SELECT period_start, 0, count FROM counter_history FORCE INDEX (period_start)
         WHERE record_type = ${recordType} AND (${within})
     ) AS parts GROUP BY start HAVING SUM(recorded) <> SUM(expected) ORDER BY start LIMIT ${MAX_WRONG}`,
  )
}

/** Checks the hours of all types against those of their counters, for days whose hours are kept. */
async function verifyTypeHours(db: Executor, page: Page): Promise<CheckedPage> {
  const begin = page.start.replace('T', ' ') || (await firstDayWithHours(db, page))
  const index = 'FROM counter_history FORCE INDEX (period_start) WHERE period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [begin], page.rows)
  const read = async () => {
    // Read again each time: a type that is too new for the first list is in the second one.
    const known = await db.execute('SELECT DISTINCT record_type FROM type_history WHERE record_type >= 0')
    const types = known.rows.map((row) => Number(row.record_type))
    const kept = await firstDayWithHours(db, page)
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
  return { last, next: last.length > 10 ? timeText(start + HOUR_MS).replace(' ', 'T') : dayText(start + DAY_MS) }
}

/**
 * Reads mismatches twice, and returns those of both, as read the second time.
 * @param recordType default: that of the rows
 */
async function confirmMismatches(
  read: () => Promise<{ rows: Record<string, unknown>[] }>,
  recordType?: number,
): Promise<Mismatch[]> {
  const mismatches = async () => (await read()).rows.map((row) => toMismatch(row, recordType))
  const place = ({ recordType, recordId, what, start }: Mismatch) => `${recordType} ${recordId} ${what} ${start}`
  const first = new Set((await mismatches()).map(place))
  return first.size === 0 ? [] : (await mismatches()).filter((mismatch) => first.has(place(mismatch)))
}

function toMismatch(row: Record<string, unknown>, recordType = Number(row.record_type)): Mismatch {
  const what = String(row.what) as Mismatch['what']
  const start = row.start === null ? null : String(row.start)
  return {
    recordType,
    recordId: row.record_id === undefined ? null : toBigInt(row.record_id),
    what,
    start: start && (what === 'hour' ? `${start.slice(0, 19).replace(' ', 'T')}Z` : start.slice(0, 10)),
    is: toBigInt(row.recorded),
    shouldBe: toBigInt(row.expected),
  }
}

/** The first day from which all hours must be there. */
export async function firstDayWithHours(db: Executor, { at, hourDays }: HourRule): Promise<string> {
  const oldest = await readOldestHour(db)
  const today = startOf('day', at).getTime()
  const afterOldest = oldest === null ? today : startOf('day', oldest).getTime() + DAY_MS
  // A margin of one day for clock differences and time limits.
  const kept = today - (hourDays - 1) * DAY_MS
  return dayText(Math.min(today - DAY_MS, Math.max(afterOldest, kept)))
}
