import type { Count } from './exact-json.ts'

/** Makes something on first use. Formats are slow to make, and a page needs few of them before its chart. */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}

const format = (options?: Intl.NumberFormatOptions) => onFirstUse(() => new Intl.NumberFormat(undefined, options))
const whole = format()
const withSign = format({ signDisplay: 'exceptZero' })
const percent = format({ style: 'percent', maximumFractionDigits: 0 })
const short = format({ notation: 'compact', maximumFractionDigits: 1 })

/** All digits, in the visitor's locale. */
export const showCount = (count: Count | bigint) => whole().format(BigInt(count))

/** All digits, with a sign. */
export const showChange = (count: Count | bigint) => withSign().format(BigInt(count))

/** What a type counts: its settings `unit_one` (empty if it is not set) and `unit`. */
export interface Unit {
  one: string
  many: string
}

// The page's language: numbers follow the browser's.
const plurals = onFirstUse(() => new Intl.PluralRules('en'))

/** A count with its unit: "1 view", "2 views"; without a singular "views: 1", which is right in every language. */
export function showUnits(count: Count | bigint, { one, many }: Unit): string {
  const shown = showCount(count)
  if (plurals().select(Number(count)) !== 'one') return `${shown} ${many}`
  return one === '' ? `${many}: ${shown}` : `${shown} ${one}`
}

/** Short, for the axis of a chart. */
export const showShort = (count: number) => short().format(count)

/**
 * The change in percent, from the tenfold on as a factor: "▲ 5%", "▲ ×20", "▼ 3%". Empty if there was nothing before or nothing
 * can be compared.
 */
export function showGrowth({ compared, before }: { compared: Count | null; before: Count | null }): string {
  if (compared === null || before === null || BigInt(before) <= 0n) return ''
  const [now, then] = [BigInt(compared), BigInt(before)]
  if (now >= 10n * then) return `▲ ×${showCount(now / then)}`
  const size = percent().format(ratio(now > then ? now - then : then - now, then))
  if (size === percent().format(0)) return size
  return `${now > then ? '▲' : '▼'} ${size}`
}

/** The class that colors a change: up, down, or neither. */
export function directionOf(growth: string): string {
  if (growth.startsWith('▲')) return 'up'
  return growth.startsWith('▼') ? 'down' : ''
}

/** The part of a whole in percent; empty if there is no whole. */
export function showShare(count: Count, whole: Count): string {
  const [part, all] = [BigInt(count), BigInt(whole)]
  if (all <= 0n || part < 0n || part > all) return ''
  return part > 0n && part * 100n < all ? `<${percent().format(0.01)}` : percent().format(ratio(part, all))
}

function ratio(part: bigint, whole: bigint): number {
  return Number((part * 10_000n) / whole) / 10_000
}
