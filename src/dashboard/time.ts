const HOUR_MS = 3_600_000

/** Length of the periods that a chart is made of. */
export type By = 'hour' | 'day' | 'month'

/** A stretch of time, cut into periods. */
export interface Range {
  from: Date
  /** The end, which is not part of it; the present if it is left out. */
  to?: Date
  by: By
}

/** The visitor's time zone. Where days begin, in all charts. */
export const TIME_ZONE = zone()

function zone(): string {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone
  // Browsers that hide it say something like Etc/Unknown, and go by UTC.
  return /^(?:UTC|GMT|[A-Z]\w+\/[\w+/-]+)$/.test(name) && name !== 'Etc/Unknown' ? name : 'UTC'
}

/** The first instant of the visitor's day, so many days later. */
export function startOfDay(at: Date, days = 0): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + days)
}

/** The ranges that have a button, by the value of that. */
export function rangeOf(name: string, now: Date): Range {
  switch (name) {
    case 'week':
      return { from: startOfDay(now, -6), by: 'day' }
    case 'month':
      return { from: startOfDay(now, -29), by: 'day' }
    case 'quarter':
      return { from: startOfDay(now, -89), by: 'day' }
    case 'year':
      return { from: new Date(now.getFullYear(), now.getMonth() - 11, 1), by: 'month' }
    default:
      return { from: new Date(startOfHour(now).getTime() - 23 * HOUR_MS), by: 'hour' }
  }
}

/** The first instant of the hour as the history knows it: hours of UTC, which are not those of every time zone's clocks. */
export function startOfHour(at: Date): Date {
  return new Date(at.getTime() - (at.getTime() % HOUR_MS))
}

/** A day as `<input type=date>` has it. */
export function toDayInput(at: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** The first instant of a day from `<input type=date>`, so many days later. */
export function fromDayInput(text: string, days = 0): Date {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
  return new Date(year, month - 1, day + days)
}

/** What the API is told of a range. */
export function historyParameters({ from, to, by }: Range): Record<string, string> {
  return { by, tz: TIME_ZONE, from: from.toISOString(), ...(to !== undefined && { to: to.toISOString() }) }
}

const axis = {
  hour: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'short', year: '2-digit' }),
}
const full = {
  hour: new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }),
  day: new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' }),
}
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
// In a sentence, hence in the language of the page.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A period's beginning, as short as an axis needs it. */
export const showOnAxis = (at: Date, by: By) => axis[by].format(at)

/** A period, in full. */
export const showPeriod = (at: Date, by: By) => full[by].format(at)

/** An instant. */
export const showMoment = (at: Date) => moment.format(at)

/** A time of day. */
export const showClock = (at: Date) => clock.format(at)

/** How long ago that was. */
export function showAgo(seconds: number): string {
  if (seconds < 90) return relative.format(-Math.round(seconds), 'second')
  if (seconds < 5_400) return relative.format(-Math.round(seconds / 60), 'minute')
  if (seconds < 129_600) return relative.format(-Math.round(seconds / 3_600), 'hour')
  return relative.format(-Math.round(seconds / 86_400), 'day')
}
