import { type FigureName, formatFigure } from '../harness/figure-names.ts'
import type { Run } from '../harness/variant.ts'
import { median } from './medians.ts'

/** A figure of one variant, alone or relative to another variant in the same round, and its target. */
export interface Comparison {
  /** What the report calls it. */
  label: string
  figure: FigureName
  of: string
  /** The variant to divide by, or to subtract. Default: none, the figure itself. */
  to?: string
  /** Default: the ratio. */
  as?: 'ratio' | 'difference'
  /** Target for the median of all rounds. `within`: how far a ratio may be from 1. */
  target?: { atLeast: number } | { atMost: number } | { within: number }
}

/** The result of a comparison. */
export interface Verdict {
  /** One value for each round that measured both variants. */
  values: number[]
  median: number
  /** Whether the target was met; `null` if there is none, or nothing was measured. */
  met: boolean | null
}

/** Compares variants within each round, so that a slow spell of the machine affects both, and takes the median. */
export function judge({ figure, of, to, as, target }: Comparison, runs: readonly Run[]): Verdict {
  const values: number[] = []
  for (const round of new Set(runs.map(({ round }) => round))) {
    const ofRound = (name: string) => runs.find((run) => run.round === round && run.variant === name)?.figures[figure]
    const value = ofRound(of)
    const other = to === undefined ? undefined : ofRound(to)
    if (value === undefined || (to !== undefined && other === undefined)) continue
    if (other === undefined) values.push(value)
    else if (as === 'difference') values.push(value - other)
    // There is no ratio to 0. If no request was answered, the run has already failed.
    else if (other !== 0) values.push(value / other)
  }
  const middle = median(values)
  let met: boolean | null = null
  if (target !== undefined && values.length > 0) {
    if ('within' in target) met = Math.abs(middle - 1) <= target.within
    else met = 'atLeast' in target ? middle >= target.atLeast : middle <= target.atMost
  }
  return { values, median: middle, met }
}

/** A comparison's value as people read it. */
export function formatValue({ figure, to, as }: Comparison, value: number): string {
  if (Number.isNaN(value)) return '–'
  if (to !== undefined && as !== 'difference') return `${value.toFixed(2)}×`
  return formatFigure(figure, value)
}

/** A comparison's target as people read it. */
export function formatTarget({ target, ...comparison }: Comparison): string {
  if (target === undefined) return '–'
  if ('within' in target)
    return `${formatValue(comparison, 1 - target.within)} to ${formatValue(comparison, 1 + target.within)}`
  const [sign, value] = 'atLeast' in target ? ['≥', target.atLeast] : ['≤', target.atMost]
  return `${sign} ${formatValue(comparison, value)}`
}
