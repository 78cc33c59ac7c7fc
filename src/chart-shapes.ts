/*
 * What every drawing of a chart needs, in the dashboard and in images: numbers only, without a document.
 */

/** Steps between grid lines, before their power of ten. */
const STEPS = [1, 2, 2.5, 4, 5, 10]
const MAX_STEPS = 4
const RADIUS = 3
/** Narrower bars, in pixels, have no round corners. */
const MIN_ROUND = 6

/**
 * Round values at even distances that enclose two others, and zero.
 * @param least the smallest and `most` the largest value of the chart
 */
export function gridLines(least: number, most: number): number[] {
  const [bottom, top] = [Math.min(0, least), Math.max(1, most)]
  const rough = (top - bottom) / MAX_STEPS
  const power = 10 ** Math.floor(Math.log10(rough))
  // Counts are whole numbers.
  const isStep = (step: number) => step >= rough && Number.isInteger(step)
  const step = STEPS.map((digits) => digits * power).find(isStep) ?? 1
  const first = Math.floor(bottom / step)
  const last = Math.ceil(top / step)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/**
 * The path of a bar with round corners at its end. All in pixels; `y` grows downward.
 * @param base the `y` of zero, and `end` that of the value: above, or for negative values below
 */
export function barPath(x: number, width: number, base: number, end: number): string {
  const radius = width < MIN_ROUND ? 0 : Math.min(RADIUS, Math.abs(base - end))
  const left = tenths(x)
  if (radius === 0) return `M${left} ${tenths(base)}V${tenths(end)}h${tenths(width)}V${tenths(base)}z`
  const [right, top, shoulder] = [tenths(x + width), tenths(end), tenths(end + Math.sign(base - end) * radius)]
  const over = `V${shoulder}Q${left} ${top} ${tenths(left + radius)} ${top}H${tenths(right - radius)}Q${right} ${top} ${right} ${shoulder}`
  return `M${left} ${tenths(base)}${over}V${tenths(base)}z`
}

/** A tenth of a pixel is enough, and short. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
