import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { DAY_MS, dayText, startOf } from '../calendar.ts'
import { readOldestHour } from '../ledger/periods.ts'

export const MISMATCHES = ['total', 'hours', 'hour', 'day', 'week', 'month', 'adjustments'] as const

export const MAX_WRONG = 1_000

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
 * Reads mismatches twice, and returns those of both, as read the second time.
 * @param recordType default: that of the rows
 */
export async function confirmMismatches(
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

/**
 * Determines the days for which all hours must be kept. Hours expire, oldest first, after `hourDays`, and raising that does not
 * bring them back. So hours are checked from the day after the oldest hour, or since yesterday, and not for days that may be
 * expiring now.
 */
export interface HourRule {
  at: Date
  hourDays: number
}

/** The first day from which all hours must be there. */
export async function firstDayWithHours(db: Executor, { at, hourDays }: HourRule): Promise<string> {
  const oldest = await readOldestHour(db)
  const today = startOf('day', at).getTime()
  const yesterday = today - DAY_MS
  const afterOldest = oldest === null ? yesterday : startOf('day', oldest).getTime() + DAY_MS
  // A margin of one day for clock differences and time limits.
  const kept = today - (hourDays - 1) * DAY_MS
  return dayText(Math.max(Math.min(yesterday, afterOldest), Math.min(kept, yesterday)))
}
