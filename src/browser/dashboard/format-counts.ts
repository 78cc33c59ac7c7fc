import { type Unit, withUnit } from '../../units.ts'

/** A whole number from the API; a string if a JavaScript number would round it. */
export type Count = number | string

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

function format(options?: Intl.NumberFormatOptions): (number: number | bigint) => string {
  const made = onFirstUse(() => new Intl.NumberFormat(undefined, options))
  return (number) => made().format(number)
}
const whole = format()
const withSign = format({ signDisplay: 'exceptZero' })
const percent = format({ style: 'percent', maximumFractionDigits: 0 })
/** Short, for the axis of a chart. */
export const showShort = format({ notation: 'compact', maximumFractionDigits: 1 })

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
