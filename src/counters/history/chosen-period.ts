import { InvalidInput } from '../../field-errors.ts'
import { DAY_MS, dayText, HOUR_MS } from '../calendar.ts'
import { type HistoryRange, type HistoryUnit, historyRange, knownTimeZone } from './range.ts'
import type { TimeZone } from './time-zone.ts'

/** The periods that people choose from. All but `custom` end today. */
export const PERIOD_NAMES = ['today', '7d', '30d', '90d', '12m', 'all', 'custom'] as const

export type PeriodName = (typeof PERIOD_NAMES)[number]

/** The most days of a custom period: with the period before, it is one history. */
const MAX_CUSTOM_DAYS = 1_000
/** The most months that a period of all time begins before the present one. */
const MAX_MONTHS = 240
/** Up to this many days, a custom period is shown by hours. */
const MAX_DAYS_BY_HOUR = 2

const DAYS: Partial<Record<PeriodName, number>> = { today: 1, '7d': 7, '30d': 30, '90d': 90 }

/** A period with the one before it. */
export interface ChosenPeriod {
  /** The instants at which it begins and ends, in milliseconds since 1970; the end is exclusive. */
  from: number
  to: number
  /** The first and the last of its days, and those of the period before. `null`: there is none before all time. */
  days: DayNames
  before: DayNames | null
  /** The units of both together. Those of the period itself are the last ones. */
  range: HistoryRange
  /** How many units the period before has. */
  beforeLength: number
}

/** Dates such as 2026-11-20, both inclusive. */
export interface DayNames {
  first: string
  last: string
}

/** Some time of whole hours: its instants, and the names of its first and last day. */
export type Span = Pick<ChosenPeriod, 'from' | 'to' | 'days'>

/**
 * Finds the units of a period and of the one before it: as many days before, or the 12 months before. Days begin at midnight in
 * the time zone.
 *
 * @param asked `from` and `to`: the first and the last day of a custom period, dates such as 2026-11-20
 * @throws {InvalidInput} of field `from`, `to` or `tz`
 */
export function chosenPeriod(
  asked: { name: PeriodName; from?: string | undefined; to?: string | undefined },
  timeZone: string,
  now: Date,
): ChosenPeriod {
  const { name, from, to } = asked
  const zone = knownTimeZone(timeZone)
  const today = zone.dateAt(now.getTime())
  if (name === '12m' || name === 'all') {
    const months = name === '12m' ? 12 : MAX_MONTHS
    const first = monthsBefore(today, months - 1)
    const before = name === '12m' ? monthsBefore(today, 23) : null
    return periodOf('month', zone, now, { first, last: today, before })
  }
  const last = name === 'custom' ? Math.min(dateOf('to', to), today) : today
  const first = name === 'custom' ? dateOf('from', from) : today - (DAYS[name]! - 1) * DAY_MS
  if (first > last) throw new InvalidInput('from', 'must be a day up to today, and not after "to"')
  const days = (last - first) / DAY_MS + 1
  if (days > MAX_CUSTOM_DAYS) throw new InvalidInput('from', `must be at most ${MAX_CUSTOM_DAYS} days before "to"`)
  const byHour = name === 'today' || (name === 'custom' && days <= MAX_DAYS_BY_HOUR)
  return periodOf(byHour ? 'hour' : 'day', zone, now, { first, last, before: first - days * DAY_MS })
}

/**
 * The parts of a period and of the one before that can be compared: all of both, or while the period is running, what lies before
 * the last full hour and before the same time of the period before. `null`: there is no period before, or no full hour yet.
 */
export function comparableSpans(period: ChosenPeriod, now: number): { current: Span; before: Span } | null {
  const { before, days, from, to, range } = period
  if (before === null) return null
  const { zone, by } = range
  const start = range.edges[0]!
  if (now >= to) return { current: period, before: { from: start, to: from, days: before } }
  const lastHour = now - (now % HOUR_MS)
  // In some zones a day begins within an hour, which then belongs to the day before.
  const hour = by === 'hour' ? lastHour : Math.max(lastHour, zone.startOf(zone.dateAt(now)))
  if (hour <= from) return null
  const today = zone.dateAt(hour)
  const length = Date.parse(days.last) + DAY_MS - Date.parse(days.first)
  const sameDay =
    by === 'month' ? monthsBefore(today, 12) + (new Date(today).getUTCDate() - 1) * DAY_MS : today - length
  const clock = hour + zone.offsetAt(hour) - today
  const begin = zone.startOf(sameDay)
  // By the clock: twice, because the clocks may be changed in between.
  const guess = sameDay + clock - zone.offsetAt(begin)
  const same = Math.max(begin, sameDay + clock - zone.offsetAt(guess))
  if (same <= start) return null
  return {
    current: { from, to: hour, days: { first: days.first, last: dayText(today) } },
    before: { from: start, to: Math.min(same, from), days: { first: before.first, last: dayText(sameDay) } },
  }
}

/** All days are midnights in UTC. */
function periodOf(
  by: HistoryUnit,
  zone: TimeZone,
  now: Date,
  { first, last, before }: { first: number; last: number; before: number | null },
): ChosenPeriod {
  const [from, to] = [zone.startOf(first), zone.startOf(last + DAY_MS)]
  // Instants rather than dates: the history takes no dates before 1970 in any zone.
  const start = before === null ? from : zone.startOf(before)
  const range = historyRange(
    { by, timeZone: zone.name, from: new Date(start).toISOString(), to: new Date(to).toISOString() },
    now,
  )
  return {
    from,
    to,
    days: { first: dayText(first), last: dayText(last) },
    before: before === null ? null : { first: dayText(before), last: dayText(first - DAY_MS) },
    range,
    beforeLength: range.edges.findIndex((edge) => edge >= from),
  }
}

function monthsBefore(date: number, months: number): number {
  const first = new Date(date)
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - months, 1)
}

function dateOf(field: 'from' | 'to', text = ''): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(at) || dayText(at) !== text || at < Date.UTC(1975) || at >= Date.UTC(2100)) {
    throw new InvalidInput(field, 'must be a date such as 2026-11-20, in the years 1975 to 2099')
  }
  return at
}
