import { onFirstUse } from './format-counts.ts'
import type { By } from './numbers.ts'

const format = (options: Intl.DateTimeFormatOptions) => onFirstUse(() => new Intl.DateTimeFormat(undefined, options))
const time = { hour: '2-digit', minute: '2-digit' } as const
const date = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const
const axis = {
  hour: format(time),
  day: format({ day: 'numeric', month: 'short' }),
  week: format({ day: 'numeric', month: 'short' }),
  month: format({ month: 'short', year: '2-digit' }),
}
const day = format({ dateStyle: 'medium' })
const full = {
  hour: format({ ...date, ...time }),
  day: format(date),
  week: format(date),
  month: format({ month: 'long', year: 'numeric' }),
}
const moment = format({ dateStyle: 'medium', timeStyle: 'short' })
const clock = format({ timeStyle: 'short' })
// Part of an English sentence.
const relative = onFirstUse(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto' }))

/** The start of a unit, short enough for an axis. */
export const showOnAxis = (at: Date, by: By) => axis[by]().format(at)

/** The start of a unit, in full. */
export const showUnit = (at: Date, by: By) => full[by]().format(at)

/** A span of dates such as 2026-11-20. */
export const showDays = (first: string, last: string) => day().formatRange(dateOf(first), dateOf(last))

export const showMoment = (at: Date) => moment().format(at)

export const showClock = (at: Date) => clock().format(at)

/** Such as "5 minutes ago". */
export function showAgo(seconds: number): string {
  if (seconds < 90) return relative().format(-Math.round(seconds), 'second')
  if (seconds < 5_400) return relative().format(-Math.round(seconds / 60), 'minute')
  if (seconds < 129_600) return relative().format(-Math.round(seconds / 3_600), 'hour')
  return relative().format(-Math.round(seconds / 86_400), 'day')
}

/** Noon, which every day has. */
function dateOf(date: string): Date {
  return new Date(`${date}T12:00:00`)
}
