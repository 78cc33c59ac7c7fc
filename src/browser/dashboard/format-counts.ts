import type { Count } from './exact-json.ts'

/**
 * Makes something when it is first needed, and keeps it. Formats are slow to make, and a page uses few of them before its chart
 * is there.
 */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
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
