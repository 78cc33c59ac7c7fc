import { Temporal } from 'temporal-polyfill'

export const DAY_MS = 86_400_000
/** The years of the history, in every time zone. */
export const FIRST_DATE = Date.UTC(1969, 11, 31)
export const LAST_DATE = Date.UTC(2101, 0, 1)

/** What a time zone says of a date and of its first instant. */
export interface DateFacts {
  start: number
  clockTime: string
  /** The date on the clocks in the last millisecond before. */
  dateBefore: number
}

/** What Temporal says. A date is a midnight in UTC. */
export function factsByTemporal(timeZone: string, date: number): DateFacts {
  const begun = dateOf(date, 'UTC').toZonedDateTime(timeZone)
  const utc = timeZone === 'UTC'
  const before = dateOf(begun.epochMilliseconds - 1, timeZone)
  return {
    start: begun.epochMilliseconds,
    clockTime: utc
      ? begun.toInstant().toString({ smallestUnit: 'second' })
      : begun.toString({ smallestUnit: 'second', timeZoneName: 'never' }),
    dateBefore: Date.UTC(before.year, before.month - 1, before.day),
  }
}

function dateOf(at: number, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate()
}

/** The instants at which a time zone changes its clocks, in the years of the history. */
export function clockChanges(timeZone: string): number[] {
  const changes: number[] = []
  let at = Temporal.Instant.fromEpochMilliseconds(FIRST_DATE).toZonedDateTimeISO(timeZone)
  for (;;) {
    const change = at.getTimeZoneTransition('next')
    if (change === null || change.epochMilliseconds > LAST_DATE) return changes
    changes.push(change.epochMilliseconds)
    at = change
  }
}

/** The dates before, at and after a change of the clocks. */
export function datesAround(change: number): number[] {
  const date = Math.floor(change / DAY_MS) * DAY_MS
  return [-2, -1, 0, 1, 2].map((days) => date + days * DAY_MS)
}
