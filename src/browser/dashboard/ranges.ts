const HOUR_MS = 3_600_000

/** The length of a chart's periods. */
export type By = 'hour' | 'day' | 'month'

/** A time range, divided into periods. */
export interface Range {
  from: Date
  /** The end, exclusive. Default: now. */
  to?: Date
  by: By
}

/** The visitor's time zone. In all charts, days begin at its midnight. */
export const TIME_ZONE = zone()

function zone(): string {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone
  // Browsers that hide the time zone report a name such as Etc/Unknown, and use UTC.
  return /^(?:UTC|GMT|[A-Z]\w+\/[\w+/-]+)$/.test(name) && name !== 'Etc/Unknown' ? name : 'UTC'
}

/** The start of a day in the visitor's time zone, `days` days after `at`. */
export function startOfDay(at: Date, days = 0): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + days)
}

/** The range of a button, by the button's value. */
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

/** The start of the hour in UTC, as in the history. In some time zones, hours begin at other minutes. */
export function startOfHour(at: Date): Date {
  return new Date(at.getTime() - (at.getTime() % HOUR_MS))
}

/** A day in the format of `<input type=date>`. */
export function toDayInput(at: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** The start of a day from `<input type=date>`, plus `days` days. */
export function fromDayInput(text: string, days = 0): Date {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
  return new Date(year, month - 1, day + days)
}

/** The API's parameters for a range. */
export function historyParameters({ from, to, by }: Range): Record<string, string> {
  return { by, tz: TIME_ZONE, from: from.toISOString(), ...(to !== undefined && { to: to.toISOString() }) }
}
