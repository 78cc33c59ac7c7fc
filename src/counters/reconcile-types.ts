import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { startOf } from './calendar.ts'
import type { Mismatch } from './reconcile.ts'

/** Most mismatches one page names. */
export const MAX_WRONG = 1_000
const DAY_MS = 86_400_000

/**
 * Of which days the hours can be relied on to be there. Old hours are deleted, oldest first, once the configured days have
 * passed; and a setting that was raised does not bring them back. So that is: the days after the first of which there is
 * any hour at all, or since yesterday; and not those that are being deleted just now.
 */
export interface HourRule {
  /** The time of the check. */
  at: Date
  /** Days for which hours are kept. */
  hourDays: number
}

/** The first day of which every hour is there. */
export async function firstDayWithHours(db: Executor, { at, hourDays }: HourRule): Promise<string> {
  const { rows } = await db.execute('SELECT MIN(period_start) AS oldest FROM counter_history')
  const oldest = rows[0]?.oldest ?? null
  const today = startOf('day', at).getTime()
  const yesterday = today - DAY_MS
  const afterOldest = oldest === null ? yesterday : Date.parse(`${String(oldest).slice(0, 10)}T00:00:00Z`) + DAY_MS
  // A day's margin for clocks and time limits.
  const kept = today - (hourDays - 1) * DAY_MS
  return new Date(Math.max(Math.min(yesterday, afterOldest), Math.min(kept, yesterday))).toISOString().slice(0, 10)
}

/** Reads twice, and keeps what differed both times, as it was the second time. */
export async function confirmed(read: () => Promise<Mismatch[]>): Promise<Mismatch[]> {
  const place = ({ recordType, recordId, what, start }: Mismatch) => `${recordType} ${recordId} ${what} ${start}`
  const first = new Set((await read()).map(place))
  return first.size === 0 ? [] : (await read()).filter((mismatch) => first.has(place(mismatch)))
}

/** A mismatch from its row. */
export function toMismatch(recordType: number, recordId: bigint | null, row: Record<string, unknown>): Mismatch {
  const what = String(row.what) as Mismatch['what']
  const start = row.start === null || row.start === undefined ? null : String(row.start)
  return {
    recordType,
    recordId,
    what,
    start: start && (what === 'hour' ? `${start.slice(0, 19).replace(' ', 'T')}Z` : start.slice(0, 10)),
    is: toBigInt(row.recorded),
    shouldBe: toBigInt(row.expected),
  }
}

/** What a page of periods found, and the period at which the next one begins; `null`: there is none. */
interface PeriodPage {
  wrong: Mismatch[]
  next: string | null
}

/** Before and after all times. */
const [FIRST, LAST] = ['1000-01-01', '9999-12-31']

/**
 * Checks the days of a type against those of its counters. A day is always read as a whole: only that is one snapshot.
 *
 * @param start the day to begin with; empty: the first
 * @param rows rows after which a page ends, at the end of a day
 * @throws {DatabaseFailure}
 */
export async function reconcileDays(
  db: Executor,
  recordType: number,
  start: string,
  rows: number,
): Promise<PeriodPage> {
  const begin = start || FIRST
  const index = 'FROM counter_periods FORCE INDEX (ranking) WHERE record_type = ? AND period = 1 AND period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [recordType, begin], rows)
  const wrong = await confirmed(async () => {
    const { rows } = await db.execute(
      `SELECT 'day' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         SELECT period_start AS start, count AS recorded, 0 AS expected FROM type_history
           WHERE record_type = ? AND period = 1 AND period_start BETWEEN ? AND ?
         UNION ALL SELECT period_start, 0, SUM(count) ${index} BETWEEN ? AND ? GROUP BY period_start
       ) AS parts GROUP BY start HAVING SUM(recorded) <> SUM(expected) ORDER BY start LIMIT ${MAX_WRONG}`,
      [recordType, begin, last, recordType, begin, last],
    )
    return rows.map((row) => toMismatch(recordType, null, row))
  })
  return { wrong, next }
}

/**
 * Checks the hours of all types against those of their counters, where they are kept.
 *
 * @param start the hour to begin with; empty: the first
 * @param rows rows after which a page ends, at the end of an hour
 * @throws {DatabaseFailure}
 */
export async function reconcileHours(db: Executor, rule: HourRule, start: string, rows: number): Promise<PeriodPage> {
  const begin = start || (await firstDayWithHours(db, rule))
  const index = 'FROM counter_history FORCE INDEX (period_start) WHERE period_start'
  const { last, next } = await findPeriods(db, `${index} >= ?`, [begin], rows)
  const wrong = await confirmed(async () => {
    // Anew each time: a type that was not there the first time is, the second time, if its counters were.
    const types = await typesWithHours(db)
    const kept = await firstDayWithHours(db, rule)
    const range = [begin > kept ? begin : kept, last]
    const { rows } = await db.execute(
      `SELECT record_type, 'hour' AS what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         ${types
           .map(
             () => `SELECT record_type, period_start AS start, count AS recorded, 0 AS expected FROM type_history
                    WHERE record_type = ? AND period = 0 AND period_start BETWEEN ? AND ? UNION ALL `,
           )
           .join('')}
         SELECT record_type, period_start AS start, 0 AS recorded, SUM(count) AS expected ${index} BETWEEN ? AND ?
         GROUP BY record_type, period_start
       ) AS parts GROUP BY record_type, start HAVING SUM(recorded) <> SUM(expected)
       ORDER BY record_type, start LIMIT ${MAX_WRONG}`,
      [...types.flatMap((recordType) => [recordType, ...range]), ...range],
    )
    return rows.map((row) => toMismatch(Number(row.record_type), null, row))
  })
  return { wrong, next }
}

/** The types of which there is any history. */
async function typesWithHours(db: Executor): Promise<number[]> {
  const { rows } = await db.execute('SELECT DISTINCT record_type FROM type_history WHERE record_type >= 0')
  return rows.map((row) => Number(row.record_type))
}

/** How far a page of periods reaches, by the rows that are there, and where the next one begins. */
async function findPeriods(
  db: Executor,
  from: string,
  args: readonly unknown[],
  most: number,
): Promise<{ last: string; next: string | null }> {
  const { rows } = await db.execute(
    `SELECT MAX(period_start) AS last, COUNT(*) AS found FROM (
       SELECT period_start ${from} ORDER BY period_start LIMIT ?) AS parts`,
    [...args, most],
  )
  if (Number(toBigInt(rows[0]?.found)) < most) return { last: LAST, next: null }
  const last = String(rows[0]?.last)
  // Days follow days and hours hours; what lies in between the two does not exist.
  return { last, next: last.length > 10 ? after(last, 3_600_000) : after(last, DAY_MS) }
}

function after(start: string, milliseconds: number): string {
  const next = new Date(Date.parse(`${start.slice(0, 10)}T${start.slice(11, 19) || '00:00:00'}Z`) + milliseconds)
  return start.length > 10 ? next.toISOString().slice(0, 19).replace('T', ' ') : next.toISOString().slice(0, 10)
}

/**
 * Checks the weeks and months of a type against its days.
 *
 * @throws {DatabaseFailure}
 */
export async function reconcileCalendar(db: Executor, recordType: number): Promise<Mismatch[]> {
  const history = `FROM type_history WHERE record_type = ${recordType} AND period =`
  return confirmed(async () => {
    const { rows } = await db.execute(
      `SELECT what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (
         SELECT 'week' AS what, period_start AS start, count AS recorded, 0 AS expected ${history} 2
         UNION ALL SELECT 'week', period_start - INTERVAL WEEKDAY(period_start) DAY, 0, count ${history} 1
         UNION ALL SELECT 'month', period_start, count, 0 ${history} 3
         UNION ALL SELECT 'month', period_start - INTERVAL DAYOFMONTH(period_start) - 1 DAY, 0, count ${history} 1
       ) AS parts GROUP BY what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY what, start LIMIT ${MAX_WRONG}`,
    )
    return rows.map((row) => toMismatch(recordType, null, row))
  })
}
