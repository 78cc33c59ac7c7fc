import type { FigureName } from '../harness/figure-names.ts'
import type { Run } from '../harness/variant.ts'

/** The median; NaN if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The values of a figure of one variant, of all runs that measured it. */
export function valuesOf(runs: readonly Run[], variant: string, figure: FigureName): number[] {
  return runs
    .filter((run) => run.variant === variant)
    .map(({ figures }) => figures[figure])
    .filter((value) => value !== undefined)
}

/** The median of a figure of one variant; NaN if it was not measured. */
export function medianOf(runs: readonly Run[], variant: string, figure: FigureName): number {
  return median(valuesOf(runs, variant, figure))
}

/** A number for prose, rounded to three significant digits. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 3 })
}
