import type { Count } from './exact-json.ts'

const whole = new Intl.NumberFormat()
const withSign = new Intl.NumberFormat(undefined, { signDisplay: 'exceptZero' })
const percent = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** All digits, in the visitor's locale. */
export const showCount = (count: Count | bigint) => whole.format(BigInt(count))

/** All digits, with a sign. */
export const showChange = (count: Count | bigint) => withSign.format(BigInt(count))

/** A short form, for the axis of a chart. */
export const showShort = (count: number) => short.format(count)

/** The change in per cent, or an empty string if there was nothing before. */
export function showGrowth(now: bigint, before: bigint): string {
  return before <= 0n ? '' : percent.format(Number(((now - before) * 10_000n) / before) / 10_000)
}

/** The exact sum of all points. */
export function sum(points: readonly { count: Count }[]): bigint {
  return points.reduce((sum, { count }) => sum + BigInt(count), 0n)
}
