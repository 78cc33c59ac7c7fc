/** The UTC periods of the history; numbers as stored. A week is seven days. */
export const PERIODS = { hour: 0, day: 1, month: 2 } as const

/** The number and start of the row that sums a type's adjustments, stored beside the periods of its history. */
export const ADJUSTMENTS_SUM = 3
export const NO_PERIOD = '1970-01-01 00:00:00'

export type CalendarPeriod = keyof typeof PERIODS

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A UTC date such as 2026-11-20, as JSON and SQL write it. */
export function dayText(at: Date | number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** The midnight in UTC of a date such as 2026-11-20, in milliseconds since 1970; NaN for any other text. */
export function midnightOf(text: string): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse takes the 30th of February for the 2nd of March.
  return Number.isNaN(at) || dayText(at) !== text ? Number.NaN : at
}

/** A UTC time as SQL writes it, in whole seconds. */
export function timeText(at: Date | number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

/** The start of the period that contains an instant. Weeks begin on Monday (ISO 8601). */
export function startOf(period: CalendarPeriod | 'week', at: Date): Date {
  const start = new Date(at)
  if (period === 'hour') start.setUTCMinutes(0, 0, 0)
  else start.setUTCHours(0, 0, 0, 0)
  if (period === 'week') start.setUTCDate(start.getUTCDate() - ((start.getUTCDay() + 6) % 7))
  if (period === 'month') start.setUTCDate(1)
  return start
}

/** The start of the first hour that begins at an instant or later, in milliseconds since 1970. */
export function hourFrom(at: number): number {
  return Math.ceil(at / HOUR_MS) * HOUR_MS
}

/** The first day of the month that is so many months later. Midnights in UTC, in milliseconds since 1970. */
export function monthsLater(date: number, months: number): number {
  const from = new Date(date)
  return Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1)
}

/** The earliest time; `null` if any, or all, are missing. */
export function earliest(times: readonly (Date | null)[]): Date | null {
  return times.reduce((a, b) => (a === null || b === null ? null : a < b ? a : b), times[0] ?? null)
}
