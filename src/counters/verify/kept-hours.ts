import type { Executor } from '../../database/database.ts'
import { DAY_MS, dayText, startOf } from '../calendar.ts'

/**
 * Decides for which days all hours must be there. Hours expire, oldest first, once the configured days have passed, and raising
 * that setting does not bring them back. So the hours are checked from the day after the oldest hour, or since yesterday, and
 * not for days that may be expiring at the moment.
 */
export interface HourRule {
  /** The time of the check. */
  at: Date
  /** Days for which hours are kept. */
  hourDays: number
}

/** The first day from which all hours must be there. */
export async function firstDayWithHours(db: Executor, { at, hourDays }: HourRule): Promise<string> {
  const { rows } = await db.execute('SELECT MIN(period_start) AS oldest FROM counter_history')
  const oldest = rows[0]?.oldest ?? null
  const today = startOf('day', at).getTime()
  const yesterday = today - DAY_MS
  const afterOldest = oldest === null ? yesterday : Date.parse(`${String(oldest).slice(0, 10)}T00:00:00Z`) + DAY_MS
  // A margin of one day for clock differences and time limits.
  const kept = today - (hourDays - 1) * DAY_MS
  return dayText(Math.max(Math.min(yesterday, afterOldest), Math.min(kept, yesterday)))
}
