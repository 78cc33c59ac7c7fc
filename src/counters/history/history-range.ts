import { BoundedMap } from '../../bounded-map.ts'
import { InvalidInput } from '../../schemas.ts'
import { DAY_MS, HOUR_MS, hourFrom, midnightOf, monthsLater, startOf } from '../calendar.ts'
import { TimeZone } from './time-zone.ts'

/** The units of a history: what one point covers. Weeks begin on Monday. */
export const HISTORY_UNITS = ['hour', 'day', 'week', 'month'] as const

export type HistoryUnit = (typeof HISTORY_UNITS)[number]

/** The most periods in one response. */
export const MAX_POINTS = 2_000
/** Periods in a response if the request has no `from`. */
export const DEFAULT_POINTS = { hour: 24, day: 30, week: 12, month: 12 } as const

/** The years 1970 to 2100 in every time zone. */
const EARLIEST = Date.UTC(1969, 11, 31)
const LATEST = Date.UTC(2101, 0, 2)

/** A range as a client asks for it. */
export interface AskedRange {
  by: HistoryUnit
  timeZone: string
  /** ISO 8601: a date (the start of that day in the time zone), or a date and time with offset. Default: `DEFAULT_POINTS`. */
  from?: string | undefined
  /** The same, exclusive. Default: the end of the current period. */
  to?: string | undefined
}

/** Consecutive calendar periods in a time zone. */
export interface HistoryRange {
  by: HistoryUnit
  zone: TimeZone
  /** The start of each period and the end of the last one, in milliseconds since 1970: one more than there are periods. */
  edges: readonly number[]
}

/** The whole periods that a range touches. Hours are those of UTC in every zone. @throws {InvalidInput} of `from`, `to` or `tz` */
export function historyRange({ by, timeZone, from, to }: AskedRange, now: Date): HistoryRange {
  const zone = knownTimeZone(timeZone)
  const end = to === undefined ? now.getTime() + 1 : instantOf('to', to, zone, by)
  const begin = from === undefined ? undefined : instantOf('from', from, zone, by)
  if (begin !== undefined && begin >= end) {
    if (to === undefined) throw new InvalidInput('from', 'must be in the past')
    throw new InvalidInput('to', 'must be after "from"')
  }
  return rangeBetween(by, zone, begin, end)
}

/** Finds the periods between two instants, in milliseconds since 1970. @param begin default: `DEFAULT_POINTS` before the end */
export function rangeBetween(by: HistoryUnit, zone: TimeZone, begin: number | undefined, end: number): HistoryRange {
  const at = begin ?? end - 1
  // Dates are midnights in UTC: only `zone` knows when they begin.
  const first = startOf(by, new Date(by === 'hour' ? at : zone.dateAt(at))).getTime()
  const begins = {
    hour: (step: number) => first + step * HOUR_MS,
    day: (step: number) => zone.startOf(first + step * DAY_MS),
    week: (step: number) => zone.startOf(first + step * 7 * DAY_MS),
    month: (step: number) => zone.startOf(monthsLater(first, step)),
  }[by]
  const edges: number[] = []
  for (let step = begin === undefined ? 1 - DEFAULT_POINTS[by] : 0; ; step++) {
    const edge = begins(step)
    // A skipped day (Samoa had no 30 December 2011) begins when the next day does. Both dates then belong to one period.
    if (edge !== edges.at(-1)) edges.push(edge)
    if (edge >= end) return { by, zone, edges }
    if (edges.length > MAX_POINTS) throw new InvalidInput('from', TOO_MANY)
  }
}

const TOO_MANY = `must be at most ${MAX_POINTS} periods before "to": choose a later time or longer periods`

/** By the requested name. Creating one takes about a millisecond, and it caches its look-ups. */
const zones = new BoundedMap<TimeZone>(16)

/** @throws {InvalidInput} if there is no such time zone */
export function knownTimeZone(name: string): TimeZone {
  let zone = zones.get(name)
  try {
    zone ??= new TimeZone(name)
  } catch {
    throw new InvalidInput('tz', 'must be a time zone of the IANA database, such as Europe/Berlin')
  }
  zones.set(name, zone)
  return zone
}

export const TIME_RULE =
  'must be a date such as 2026-11-01, or a date and time with offset, with at most nanoseconds, such as 2026-11-01T08:00:00Z (in a URL, write + as %2B)'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

function instantOf(field: 'from' | 'to', text: string, zone: TimeZone, by: HistoryUnit): number {
  const date = midnightOf(text.slice(0, 10))
  const isDate = text.length === 10
  const time = DATE_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(date) || (!isDate && Number.isNaN(time))) throw new InvalidInput(field, TIME_RULE)
  const begin = isDate ? zone.startOf(date) : time
  const at = isDate && by === 'hour' ? hourFrom(begin) : begin
  if (at < EARLIEST || at > LATEST) throw new InvalidInput(field, 'must be in the years 1970 to 2100')
  return at
}

/** The index of the period that contains an instant; `undefined`: none does. */
export function periodAt({ edges }: HistoryRange, at: number): number | undefined {
  if (at < edges[0]! || at >= edges.at(-1)!) return undefined
  let [low, high] = [0, edges.length - 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (edges[middle]! <= at) low = middle
    else high = middle
  }
  return low
}
