/** A whole number from the API: text if a JavaScript number would round it. */
export type Count = number | string

/** A text or a number in JSON, whole. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g

/**
 * Reads JSON without rounding: JSON numbers may have any number of digits, and counts go up to 2^63.
 *
 * @returns what the text says, with whole numbers of 16 digits and more as texts
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)))
}

const whole = new Intl.NumberFormat()
const withSign = new Intl.NumberFormat(undefined, { signDisplay: 'exceptZero' })
const percent = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** All digits, as the visitor writes numbers. */
export const showCount = (count: Count | bigint) => whole.format(BigInt(count))

/** All digits, with a sign. */
export const showChange = (count: Count | bigint) => withSign.format(BigInt(count))

/** A few digits, for the axis of a chart. */
export const showShort = (count: number) => short.format(count)

/** How much more or less that is than before, or nothing if there was nothing before. */
export function showGrowth(now: bigint, before: bigint): string {
  return before <= 0n ? '' : percent.format(Number(((now - before) * 10_000n) / before) / 10_000)
}

/** The sum of all points. */
export function sum(points: readonly { count: Count }[]): bigint {
  return points.reduce((sum, { count }) => sum + BigInt(count), 0n)
}
