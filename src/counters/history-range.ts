import { Temporal } from 'temporal-polyfill'

/** What the points of a history stand for. */
export const HISTORY_UNITS = ['hour', 'day', 'month'] as const

export type HistoryUnit = (typeof HISTORY_UNITS)[number]

/** Most periods that one answer holds. */
export const MAX_POINTS = 2_000
/** How many there are if nothing is said. */
export const DEFAULT_POINTS = { hour: 24, day: 30, month: 12 } as const

const HOUR_MS = 3_600_000
/** Local midnights of 1970 and 2101 in all time zones. */
const EARLIEST = Date.UTC(1969, 11, 31)
const LATEST = Date.UTC(2101, 0, 2)

/** A range as somebody asks for it. */
export interface AskedRange {
  by: HistoryUnit
  /** An IANA time zone. */
  timeZone: string
  /** A date (midnight in the time zone) or a date and time with its offset, both ISO 8601; `undefined`: as long as is usual. */
  from: string | undefined
  /** The same, exclusive; `undefined`: up to and including the present period. */
  to: string | undefined
}

/** Consecutive periods of the calendar of a time zone. */
export interface HistoryRange {
  by: HistoryUnit
  timeZone: string
  /** Where each period begins, and where the last one ends, in milliseconds since 1970: one more than there are periods. */
  edges: readonly number[]
  /** For days and months: which period the day 2026-11-20, or the month 2026-11, is. */
  named: ReadonlyMap<string, number>
}

/** Thrown for a range that cannot be read: which field is wrong, and what it must be. */
export class InvalidRange extends Error {
  readonly field: 'from' | 'to' | 'tz'
  constructor(field: 'from' | 'to' | 'tz', message: string) {
    super(message)
    this.field = field
  }
}

/**
 * Finds the periods of a range: those that it touches, whole. Hours are those of UTC in every time zone, because no smaller
 * part of the history is known.
 *
 * @param now what lies in the present period
 * @throws {InvalidRange}
 */
export function historyRange({ by, timeZone, from, to }: AskedRange, now: Date): HistoryRange {
  const zone = knownTimeZone(timeZone)
  const end = to === undefined ? now.getTime() + 1 : instantOf('to', to, zone)
  const begin = from === undefined ? undefined : instantOf('from', from, zone)
  if (begin !== undefined && begin >= end) {
    const [field, message] =
      to === undefined ? ['from' as const, 'must be past'] : ['to' as const, 'must be after "from"']
    throw new InvalidRange(field, message)
  }
  const periods = by === 'hour' ? hours(begin, end) : calendarPeriods(by, zone, begin, end)
  return { by, timeZone: zone, ...periods }
}

function hours(begin: number | undefined, end: number) {
  const last = floorHour(end - 1)
  const first = begin === undefined ? last - (DEFAULT_POINTS.hour - 1) * HOUR_MS : floorHour(begin)
  const length = (last - first) / HOUR_MS + 1
  if (length > MAX_POINTS) throw tooMany()
  return { edges: Array.from({ length: length + 1 }, (_, i) => first + i * HOUR_MS), named: new Map<string, number>() }
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
  const named = new Map<string, number>()
  for (let date = begin === undefined ? first(end - 1).subtract(back) : first(begin); ; date = date.add(step)) {
    // Without a time: where the day begins, which is not midnight everywhere.
    const edge = date.toZonedDateTime(zone).epochMilliseconds
    // Days that were left out (Samoa had no 30 December 2011) begin when the next one does, and are one with it.
    if (edge !== edges.at(-1)) edges.push(edge)
    if (edge >= end) return { edges, named }
    if (edges.length > MAX_POINTS) throw tooMany()
    named.set(date.toString().slice(0, by === 'day' ? 10 : 7), edges.length - 1)
  }
}

function tooMany(): InvalidRange {
  return new InvalidRange(
    'from',
    `must leave at most ${MAX_POINTS} periods up to "to": choose a later one, or longer periods`,
  )
}

/**
 * The name of a time zone as it is usually spelt.
 *
 * @throws {InvalidRange}
 */
function knownTimeZone(name: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    throw new InvalidRange('tz', 'must be a time zone of the IANA database, such as Europe/Berlin')
  }
}

function instantOf(field: 'from' | 'to', text: string, zone: string): number {
  let at: number
  try {
    at = text.includes('T')
      ? Temporal.Instant.from(text).epochMilliseconds
      : Temporal.PlainDate.from(text).toZonedDateTime(zone).epochMilliseconds
  } catch {
    // Such as a second of ten decimals, which is right in ISO 8601 and too fine for clocks.
    throw new InvalidRange(field, 'must be a date, or a date and time of at most nanoseconds')
  }
  if (at < EARLIEST || at > LATEST) throw new InvalidRange(field, 'must be in the years 1970 to 2100')
  return at
}

/** The period that an instant lies in; `undefined`: none of these. */
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

/** An instant as the clocks of a time zone show it, with their offset; in UTC with a Z. Whole seconds. */
export function clockTime(at: number, timeZone: string): string {
  const instant = Temporal.Instant.fromEpochMilliseconds(at)
  if (timeZone === 'UTC') return instant.toString({ smallestUnit: 'second' })
  return instant.toZonedDateTimeISO(timeZone).toString({ smallestUnit: 'second', timeZoneName: 'never' })
}
