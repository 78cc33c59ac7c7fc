import type { FigureName, Run, Variant } from '../topic.ts'
import { median } from './comparison.ts'

/** A variant in a chart: where it stands, and the middle and the ends of what was measured. */
export type Point = Record<string, string | number> & { variant: string; median: number; low: number; high: number }

/** A figure of all variants of which it was measured. */
export function pointsOf(variants: readonly Variant[], runs: readonly Run[], figure: FigureName): Point[] {
  return variants.flatMap(({ name, axes = {} }) => {
    const values = valuesOf(runs, name, figure)
    if (values.length === 0) return []
    return [{ ...axes, variant: name, median: median(values), low: Math.min(...values), high: Math.max(...values) }]
  })
}

/** The median of a figure of one variant; NaN if it was not measured. */
export function medianOf(runs: readonly Run[], variant: string, figure: FigureName): number {
  return median(valuesOf(runs, variant, figure))
}

function valuesOf(runs: readonly Run[], variant: string, figure: FigureName): number[] {
  return runs
    .filter((run) => run.variant === variant)
    .map(({ figures }) => figures[figure])
    .filter((value) => value !== undefined)
}

/** A number as a sentence says it: three significant digits. */
export function about(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 3 })
}
