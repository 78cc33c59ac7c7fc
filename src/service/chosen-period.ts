import { DAY_MS, HOUR_MS, hourFrom, midnightOf, monthsLater } from '../counters/calendar.ts'
import { type HistoryRange, type HistoryUnit, knownTimeZone, rangeBetween } from '../counters/history/history-range.ts'
import { type Span, spanOf } from '../counters/history/selection.ts'
import type { TimeZone } from '../counters/history/time-zone.ts'
import type { ChartUnit, View } from '../periods.ts'
import { InvalidInput } from '../schemas.ts'

/** The most days of a custom period by days: from the first day of its predecessor on, there are 2,000, the most of a history. */
const MAX_CUSTOM_DAYS = 999
/** The first day that can be asked for: all time begins there. */
export const FIRST_DAY = Date.UTC(1975)
/** Up to this many days, a period is shown by hours. */
const MAX_DAYS_BY_HOUR = 2

const DAYS: Partial<Record<View['period'], number>> = { today: 1, '7d': 7, '30d': 30, '90d': 90 }

/** A period that somebody chose. It consists of whole days in a time zone. */
export interface ChosenPeriod extends Span {
  /** The units of its chart: those of `range`, or weeks or months of its days. */
  by: HistoryUnit
  /** The units from the first one of the predecessor to the last one of the period. */
  range: HistoryRange
  /** The index of the period's first unit. */
  first: number
  /** Where an instant of the period is in its predecessor: some days earlier, at the same time. `null`: it has none. */
  earlier: ((at: number) => number) | null
}

interface AskedPeriod {
  name: View['period']
  /** The first and the last day of a custom period. */
  from?: string | undefined
  to?: string | undefined
  /** Units other than the period's own. Periods by hours and all time have no others. */
  by?: ChartUnit | undefined
}

/** The part of a period that is compared, and the same part of its predecessor. */
export interface Comparison {
  current: Span
  before: Span
}

/**
 * Finds a period and its predecessor: the fewest whole weeks earlier that are as long, to compare the same days of the week; of months, the
 * year before. @throws {InvalidInput} of field `from`, `to` or `tz`
 */
export function chosenPeriod({ name, from, to, by }: AskedPeriod, timeZone: string, now: Date): ChosenPeriod {
  const zone = knownTimeZone(timeZone)
  const today = zone.dateAt(now.getTime())
  if (name === '12m' || name === 'all') {
    const first = name === '12m' ? monthsLater(today, -11) : FIRST_DAY
    const yearBefore = (date: number) => monthsLater(date, -12) + (new Date(date).getUTCDate() - 1) * DAY_MS
    const shown = name === 'all' ? 'month' : (by ?? 'month')
    const unit = shown === 'month' ? 'month' : 'day'
    return periodOf(shown, unit, zone, [first, monthsLater(today, 1)], name === '12m' ? yearBefore : null)
  }
  const [first, last] = daysOf(name, today, from, to)
  if (first > last) throw new InvalidInput('from', 'must be a day up to today, and not after "to"')
  const days = (last - first) / DAY_MS + 1
  if (days > MAX_CUSTOM_DAYS) {
    return periodOf('month', 'month', zone, [monthsLater(first, 0), monthsLater(last, 1)], null)
  }
  const byHour = days <= MAX_DAYS_BY_HOUR
  const shift = Math.ceil(days / 7) * 7 * DAY_MS
  const [shown, unit] = byHour ? (['hour', 'hour'] as const) : ([by ?? 'day', 'day'] as const)
  return periodOf(shown, unit, zone, [first, last + DAY_MS], (date) => date - shift)
}

/** The first and the last day of a period that does not consist of months. All dates are midnights in UTC. */
function daysOf(name: View['period'], today: number, from?: string, to?: string): [first: number, last: number] {
  if (name === 'custom') {
    const last = Math.min(dateOf('to', to), today)
    return [dateOf('from', from), last]
  }
  if (name === 'yesterday') return [today - DAY_MS, today - DAY_MS]
  if (name === 'month') return [monthsLater(today, 0), today]
  if (name === 'last-month') return [monthsLater(today, -1), monthsLater(today, 0) - DAY_MS]
  return [today - (DAYS[name]! - 1) * DAY_MS, today]
}

/** @param dateBefore the date of the predecessor for one of the period. All dates are midnights in UTC. */
function periodOf(
  by: HistoryUnit,
  unit: 'hour' | 'day' | 'month',
  zone: TimeZone,
  [firstDay, nextDay]: [number, number],
  dateBefore: ((date: number) => number) | null,
): ChosenPeriod {
  const [from, to] = [zone.startOf(firstDay), zone.startOf(nextDay)]
  const earlier = dateBefore && earlierBy(zone, dateBefore)
  const begin = earlier?.(from) ?? from
  const range = rangeBetween(unit, zone, unit === 'hour' ? hourFrom(begin) : begin, to)
  return { ...spanOf(zone, from, to), by, range, first: range.edges.findIndex((edge) => edge >= from), earlier }
}

/** A day begins where the earlier one does. All other times are by the clock. */
function earlierBy(zone: TimeZone, dateBefore: (date: number) => number): (at: number) => number {
  return (at) => {
    const date = zone.dateAt(at)
    const begin = zone.startOf(dateBefore(date))
    if (at === zone.startOf(date)) return begin
    const clock = at + zone.offsetAt(at) - date + dateBefore(date)
    // The clocks may have changed since the day began. A time that they skip is that after the gap.
    const guess = Math.max(begin, clock - zone.offsetAt(begin))
    const found = clock - zone.offsetAt(guess)
    return found + zone.offsetAt(found) === clock ? found : guess
  }
}

/**
 * The two spans to compare: a finished period and its predecessor; of a running one, up to its last full hour, and the same part.
 * `byDay`: the same up to yesterday, for when one of `cutDays` (midnights in UTC) has counts without an hour. `null`: no predecessor
 */
export function comparedSpans({ earlier, from, to, range: { zone } }: ChosenPeriod, now: number) {
  if (earlier === null) return null
  const upTo = (end: number): Comparison => ({
    current: spanOf(zone, from, end),
    before: spanOf(zone, earlier(from), earlier(end)),
  })
  if (now >= to) return { byHour: upTo(to), byDay: upTo(to), cutDays: [] }
  const today = zone.dateAt(now)
  const midnight = zone.startOf(today)
  // In some zones a day begins within an hour, which then belongs to the day before.
  const hour = Math.max(midnight, now - (now % HOUR_MS))
  return { byHour: upTo(hour), byDay: upTo(midnight), cutDays: [today, zone.dateAt(earlier(midnight))] }
}

/** The whole days of a period that are over, and how many these are; of all time, which has no first day, none. */
export function wholeDays({ from, to, firstDay, range: { zone } }: ChosenPeriod, now: number): Span & { days: number } {
  const begin = firstDay === FIRST_DAY ? to : from
  const span = spanOf(zone, begin, Math.max(begin, Math.min(to, zone.startOf(zone.dateAt(now)))))
  return { ...span, days: (span.nextDay - span.firstDay) / DAY_MS }
}

function dateOf(field: 'from' | 'to', text = ''): number {
  const at = midnightOf(text)
  if (at >= FIRST_DAY && at < Date.UTC(2100)) return at
  throw new InvalidInput(field, 'must be a date such as 2026-11-20, in the years 1975 to 2099')
}
