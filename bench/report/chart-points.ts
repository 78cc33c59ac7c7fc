import type { FigureName } from '../harness/figure-names.ts'
import type { Run, Variant } from '../harness/variant.ts'
import { median, valuesOf } from './medians.ts'

/** A variant in a chart: its place on the axes, and the median, minimum and maximum of a figure. */
export type Point = Record<string, string | number> & { variant: string; median: number; low: number; high: number }

/** The points of all variants for which a figure was measured. */
export function pointsOf(variants: readonly Variant[], runs: readonly Run[], figure: FigureName): Point[] {
  return variants.flatMap(({ name, axes = {} }) => {
    const values = valuesOf(runs, name, figure)
    if (values.length === 0) return []
    return [{ ...axes, variant: name, median: median(values), low: Math.min(...values), high: Math.max(...values) }]
  })
}
