import { type Unit, withUnit } from '../../units.ts'
import type { By, Count } from './numbers-answer.ts'

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g

/** Parses JSON without rounding: whole numbers of 16 or more digits become strings, because counts go up to 2^63. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)))
}

/** Makes something on first use. Formats are slow to make, and a page needs few of them before its chart. */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}

function numberFormat(options?: Intl.NumberFormatOptions): (number: number | bigint) => string {
  const made = onFirstUse(() => new Intl.NumberFormat(undefined, options))
  return (number) => made().format(number)
}
const whole = numberFormat()
const withSign = numberFormat({ signDisplay: 'exceptZero' })
const percent = numberFormat({ style: 'percent', maximumFractionDigits: 0 })
/** Short, for the axis of a chart. */
export const showShort = numberFormat({ notation: 'compact', maximumFractionDigits: 1 })

/** All digits, in the visitor's locale. */
export const showCount = (count: Count | bigint) => whole(BigInt(count))

/** All digits, with a sign. */
export const showChange = (count: Count | bigint) => withSign(BigInt(count))

/** All digits, with the unit. */
export const showUnits = (count: Count | bigint, unit: Unit) => withUnit(showCount(count), BigInt(count), unit)

/** The change: "▲ 5%", "▼ 3%", from the tenfold on "▲ ×20". Empty if there was nothing before or nothing can be compared. */
export function showGrowth({ compared, before }: { compared: Count | null; before: Count | null }): string {
  if (compared === null || before === null || BigInt(before) <= 0n) return ''
  const [now, then] = [BigInt(compared), BigInt(before)]
  if (now >= 10n * then) return `▲ ×${showCount(now / then)}`
  const size = percent(Number(((now > then ? now - then : then - now) * 10_000n) / then) / 10_000)
  if (size === percent(0)) return size
  return `${now > then ? '▲' : '▼'} ${size}`
}

/** The class that colors a change: up, down, or neither. */
export function directionOf(growth: string): string {
  if (growth.startsWith('▲')) return 'up'
  return growth.startsWith('▼') ? 'down' : ''
}

/**
 * Reads a whole number: digits alone, or with separators where the page writes them. Anything else is `null`, because "1.5"
 * is fifteen in no language.
 */
export function readTypedCount(text: string, locales?: Intl.LocalesArgument): bigint | null {
  const typed = plain(text, locales)
  const digits = typed.replaceAll(/[^\d]/g, '')
  // Those of a 64-bit number.
  if (digits === '' || digits.length > 19) return null
  const count = BigInt(typed.startsWith('-') ? `-${digits}` : digits)
  if (/^-?\d+$/.test(typed)) return count
  // Some languages write four digits without a separator, but readers of others type it.
  const written = (['auto', 'always'] as const).map((useGrouping) => {
    const format = new Intl.NumberFormat(locales, { useGrouping } as Intl.NumberFormatOptions)
    return plain(format.format(count), locales)
  })
  return written.includes(typed) ? count : null
}

/** Text in the digits 0 to 9, without marks of the writing direction, and with one kind of minus, space and apostrophe. */
function plain(text: string, locales: Intl.LocalesArgument): string {
  const own = [...new Intl.NumberFormat(locales, { useGrouping: false }).format(9_876_543_210)].reverse()
  return text
    .replaceAll(/[\u061c\u200e\u200f]/g, '')
    .replaceAll(/\p{Nd}/gu, (digit) => (own.includes(digit) ? String(own.indexOf(digit)) : digit))
    .replaceAll(/[\u2010\u2212]/g, '-')
    .replaceAll(/[’ʼ]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
}

// The months of the numbers are Gregorian, whichever calendar the visitor's locale has.
const made = (options: Intl.DateTimeFormatOptions) =>
  onFirstUse(() => new Intl.DateTimeFormat(undefined, { calendar: 'gregory', ...options }))
function dateFormat(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  const its = made(options)
  return (at) => its().format(at)
}
const time = { hour: '2-digit', minute: '2-digit' } as const
const dayOfYear = { weekday: 'short', day: 'numeric', month: 'short' } as const
const date = { ...dayOfYear, year: 'numeric' } as const
const day = made({ dateStyle: 'medium' })
const full = {
  hour: dateFormat({ ...date, ...time }),
  day: dateFormat(date),
  month: dateFormat({ month: 'long', year: 'numeric' }),
}
const ofThisYear = {
  hour: dateFormat({ ...dayOfYear, ...time }),
  day: dateFormat(dayOfYear),
  month: dateFormat({ month: 'long' }),
}

/** An instant, short enough for an axis. */
export const showOnAxis = {
  hour: dateFormat(time),
  day: dateFormat({ day: 'numeric', month: 'short' }),
  month: dateFormat({ month: 'short' }),
  year: dateFormat({ year: 'numeric' }),
}

export const showMoment = dateFormat({ dateStyle: 'medium', timeStyle: 'short' })

export const showClock = dateFormat({ timeStyle: 'short' })

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
