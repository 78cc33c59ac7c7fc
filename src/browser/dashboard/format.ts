import type { Count } from './api.ts'
import { onFirstUse } from './elements.ts'
import type { By } from './numbers.ts'

const format = (options?: Intl.NumberFormatOptions) => onFirstUse(() => new Intl.NumberFormat(undefined, options))
const whole = format()
const withSign = format({ signDisplay: 'exceptZero' })
const percent = format({ style: 'percent', maximumFractionDigits: 0 })
const signedPercent = format({ style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' })
const short = format({ notation: 'compact', maximumFractionDigits: 1 })

/** All digits, in the visitor's locale. */
export const showCount = (count: Count | bigint) => whole().format(BigInt(count))

/** All digits, with a sign. */
export const showChange = (count: Count | bigint) => withSign().format(BigInt(count))

/** A short form, for the axis of a chart. */
export const showShort = (count: number) => short().format(count)

/**
 * The change in per cent, from the tenfold on as a factor; an empty string if it cannot be told: there was nothing before, or
 * nothing can be compared.
 */
export function showGrowth({ compared, before }: { compared: Count | null; before: Count | null }): string {
  if (compared === null || before === null || BigInt(before) <= 0n) return ''
  const [now, then] = [BigInt(compared), BigInt(before)]
  return now >= 10n * then ? `×${showCount(now / then)}` : signedPercent().format(ratio(now - then, then))
}

/** What part of a whole a count is, in per cent; an empty string if there is no whole. */
export function showShare(count: Count, whole: Count): string {
  const [part, all] = [BigInt(count), BigInt(whole)]
  if (all <= 0n || part < 0n || part > all) return ''
  return part > 0n && part * 100n < all ? `<${percent().format(0.01)}` : percent().format(ratio(part, all))
}

function ratio(part: bigint, whole: bigint): number {
  return Number((part * 10_000n) / whole) / 10_000
}

const timeFormat = (options: Intl.DateTimeFormatOptions) =>
  onFirstUse(() => new Intl.DateTimeFormat(undefined, options))
const time = { hour: '2-digit', minute: '2-digit' } as const
const date = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const
const axis = {
  hour: timeFormat(time),
  day: timeFormat({ day: 'numeric', month: 'short' }),
  month: timeFormat({ month: 'short', year: '2-digit' }),
}
const day = timeFormat({ dateStyle: 'medium' })
const full = {
  hour: timeFormat({ ...date, ...time }),
  day: timeFormat(date),
  month: timeFormat({ month: 'long', year: 'numeric' }),
}
const moment = timeFormat({ dateStyle: 'medium', timeStyle: 'short' })
const clock = timeFormat({ timeStyle: 'short' })
// English, because it is part of an English sentence.
const relative = onFirstUse(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto' }))

/** The start of a unit, short enough for an axis. */
export const showOnAxis = (at: Date, by: By) => axis[by]().format(at)

/** The start of a unit, in full. */
export const showUnit = (at: Date, by: By) => full[by]().format(at)

/** The days from one date such as 2026-11-20 to another. */
export const showDays = (first: string, last: string) => day().formatRange(dateOf(first), dateOf(last))

/** A date and time. */
export const showMoment = (at: Date) => moment().format(at)

/** A time of day. */
export const showClock = (at: Date) => clock().format(at)

/** How long ago something was, such as "5 minutes ago". */
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
