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
const signedPercent = format({ style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' })
const short = format({ notation: 'compact', maximumFractionDigits: 1 })

/** All digits, in the visitor's locale. */
export const showCount = (count: Count | bigint) => whole().format(BigInt(count))

/** All digits, with a sign. */
export const showChange = (count: Count | bigint) => withSign().format(BigInt(count))

/** Short, for the axis of a chart. */
export const showShort = (count: number) => short().format(count)

/** The change in percent, from the tenfold on as a factor; empty if there was nothing before or nothing can be compared. */
export function showGrowth({ compared, before }: { compared: Count | null; before: Count | null }): string {
  if (compared === null || before === null || BigInt(before) <= 0n) return ''
  const [now, then] = [BigInt(compared), BigInt(before)]
  return now >= 10n * then ? `×${showCount(now / then)}` : signedPercent().format(ratio(now - then, then))
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
