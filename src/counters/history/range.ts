import { Temporal } from 'temporal-polyfill'
import { InvalidInput } from '../invalid-input.ts'

/** The units of a history: what one point covers. */
export const HISTORY_UNITS = ['hour', 'day', 'month'] as const

export type HistoryUnit = (typeof HISTORY_UNITS)[number]

/** The most periods in one response. */
export const MAX_POINTS = 2_000
/** Periods in a response if the request has no `from`. */
export const DEFAULT_POINTS = { hour: 24, day: 30, month: 12 } as const

const HOUR_MS = 3_600_000
/** The years 1970 to 2100 in every time zone. */
const EARLIEST = Date.UTC(1969, 11, 31)
const LATEST = Date.UTC(2101, 0, 2)

/** A range as a client asks for it. */
export interface AskedRange {
  by: HistoryUnit
  /** An IANA time zone. */
  timeZone: string
  /**
   * A date (the start of that day in the time zone) or a date and time with an offset, both ISO 8601; `undefined` for
   * `DEFAULT_POINTS` periods.
   */
  from: string | undefined
  /** Written like `from`, exclusive; `undefined` for the end of the current period. */
  to: string | undefined
}

/** Consecutive calendar periods in a time zone. */
export interface HistoryRange {
  by: HistoryUnit
  timeZone: string
  /** The start of each period and the end of the last one, in milliseconds since 1970: one more than there are periods. */
  edges: readonly number[]
  /** The index of each period by its name, such as 2026-11-20 for a day or 2026-11 for a month. Empty for hours. */
  indexByName: ReadonlyMap<string, number>
}

/**
 * Finds the periods that a range touches, each as a whole. Hours are UTC hours in every time zone, because the history has
 * nothing shorter.
 *
 * @param now an instant in the current period
 * @throws {InvalidInput} of field `from`, `to` or `tz`
 */
export function historyRange({ by, timeZone, from, to }: AskedRange, now: Date): HistoryRange {
  const zone = knownTimeZone(timeZone)
  const end = to === undefined ? now.getTime() + 1 : instantOf('to', to, zone)
  const begin = from === undefined ? undefined : instantOf('from', from, zone)
  if (begin !== undefined && begin >= end) {
    const [field, message] =
      to === undefined ? ['from' as const, 'must be in the past'] : ['to' as const, 'must be after "from"']
    throw new InvalidInput(field, message)
  }
  const periods = by === 'hour' ? hours(begin, end) : calendarPeriods(by, zone, begin, end)
  return { by, timeZone: zone, ...periods }
}

function hours(begin: number | undefined, end: number) {
  const last = floorHour(end - 1)
  const first = begin === undefined ? last - (DEFAULT_POINTS.hour - 1) * HOUR_MS : floorHour(begin)
  const length = (last - first) / HOUR_MS + 1
  if (length > MAX_POINTS) throw tooMany()
  return {
    edges: Array.from({ length: length + 1 }, (_, i) => first + i * HOUR_MS),
    indexByName: new Map<string, number>(),
  }
}

function floorHour(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS
}

function calendarPeriods(by: 'day' | 'month', zone: string, begin: number | undefined, end: number) {
  const step = by === 'day' ? { days: 1 } : { months: 1 }
  const back = by === 'day' ? { days: DEFAULT_POINTS.day - 1 } : { months: DEFAULT_POINTS.month - 1 }
  const first = (at: number) => {
    const date = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()
    return by === 'day' ? date : date.with({ day: 1 })
  }
  const edges: number[] = []
  const indexByName = new Map<string, number>()
  for (let date = begin === undefined ? first(end - 1).subtract(back) : first(begin); ; date = date.add(step)) {
    // Without a time, this is the start of the day, which is not always midnight.
    const edge = date.toZonedDateTime(zone).epochMilliseconds
    // A skipped day (Samoa had no 30 December 2011) begins when the next day does. Both names then refer to one period.
    if (edge !== edges.at(-1)) edges.push(edge)
    if (edge >= end) return { edges, indexByName }
    if (edges.length > MAX_POINTS) throw tooMany()
    indexByName.set(date.toString().slice(0, by === 'day' ? 10 : 7), edges.length - 1)
  }
}

function tooMany(): InvalidInput {
  return new InvalidInput(
    'from',
    `must leave at most ${MAX_POINTS} periods up to "to": choose a later one, or longer periods`,
  )
}

/**
 * The canonical spelling of a time zone's name.
 *
 * @throws {InvalidInput} if there is no such time zone
 */
function knownTimeZone(name: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    throw new InvalidInput('tz', 'must be a time zone of the IANA database, such as Europe/Berlin')
  }
}

function instantOf(field: 'from' | 'to', text: string, zone: string): number {
  let at: number
  try {
    at = text.includes('T')
      ? Temporal.Instant.from(text).epochMilliseconds
      : Temporal.PlainDate.from(text).toZonedDateTime(zone).epochMilliseconds
  } catch {
    // Seconds with ten decimals, for example, are valid in ISO 8601 but too precise for Temporal.
    throw new InvalidInput(field, 'must be a date, or a date and time with at most nanoseconds')
  }
  if (at < EARLIEST || at > LATEST) throw new InvalidInput(field, 'must be in the years 1970 to 2100')
  return at
}

/** The index of the period that an instant lies in; `undefined` if it lies in none of them. */
export function periodAt({ edges }: HistoryRange, at: number): number | undefined {
  if (at < edges[0]! || at >= edges.at(-1)!) return undefined
  let low = 0
  let high = edges.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (edges[middle]! <= at) low = middle
    else high = middle
  }
  return low
}

/** Formats an instant as the local time of a time zone, in whole seconds, with its offset, or with a Z in UTC. */
export function clockTime(at: number, timeZone: string): string {
  const instant = Temporal.Instant.fromEpochMilliseconds(at)
  if (timeZone === 'UTC') return instant.toString({ smallestUnit: 'second' })
  return instant.toZonedDateTimeISO(timeZone).toString({ smallestUnit: 'second', timeZoneName: 'never' })
}
