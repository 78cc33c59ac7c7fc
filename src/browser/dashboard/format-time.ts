import { onFirstUse } from './format-counts.ts'
import type { By } from './numbers-answer.ts'

// The months of the numbers are Gregorian, whichever calendar the visitor's locale has.
const made = (options: Intl.DateTimeFormatOptions) =>
  onFirstUse(() => new Intl.DateTimeFormat(undefined, { calendar: 'gregory', ...options }))
function format(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  const its = made(options)
  return (at) => its().format(at)
}
const time = { hour: '2-digit', minute: '2-digit' } as const
const dayOfYear = { weekday: 'short', day: 'numeric', month: 'short' } as const
const date = { ...dayOfYear, year: 'numeric' } as const
const day = made({ dateStyle: 'medium' })
const full = {
  hour: format({ ...date, ...time }),
  day: format(date),
  month: format({ month: 'long', year: 'numeric' }),
}
const ofThisYear = { hour: format({ ...dayOfYear, ...time }), day: format(dayOfYear), month: format({ month: 'long' }) }

/** An instant, short enough for an axis. */
export const showOnAxis = {
  hour: format(time),
  day: format({ day: 'numeric', month: 'short' }),
  month: format({ month: 'short' }),
  year: format({ year: 'numeric' }),
}

export const showMoment = format({ dateStyle: 'medium', timeStyle: 'short' })

export const showClock = format({ timeStyle: 'short' })

/** The start of a unit, in full: a week by its first day. */
export const showUnit = (at: Date, by: By) => full[by === 'week' ? 'day' : by](at)

/** An hour, a day or a month, with its year only if that is not the present one. */
export function showBriefly(at: Date, by: keyof typeof full): string {
  const formats = at.getFullYear() === new Date().getFullYear() ? ofThisYear : full
  return formats[by](at)
}

/** A span of dates such as 2026-11-20. */
export const showDays = (first: string, last: string) => day().formatRange(noonOf(first), noonOf(last))

/** The noon of a day such as 2026-11-20, which every day has. */
export const noonOf = (day: string) => new Date(`${day}T12:00:00`)
