import { format } from '../harness/rounds.ts'
import type { Comparison, Run } from '../topic.ts'

/** What a comparison came to. */
export interface Verdict {
  /** Of each round in which it could be told. */
  values: number[]
  median: number
  /** Whether the target was met; `null` if there is none, or nothing was measured. */
  met: boolean | null
}

/** The middle one, or between the two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Compares variants round by round, so that a machine that was busy for a while slows both, and takes the median. */
export function judge({ figure, of, to, as, target }: Comparison, runs: readonly Run[]): Verdict {
  const values: number[] = []
  for (const round of new Set(runs.map(({ round }) => round))) {
    const ofRound = (name: string) => runs.find((run) => run.round === round && run.variant === name)?.figures[figure]
    const value = ofRound(of)
    const other = to === undefined ? undefined : ofRound(to)
    if (value === undefined || (to !== undefined && other === undefined)) continue
    if (other === undefined) values.push(value)
    else if (as === 'difference') values.push(value - other)
    // Nothing is a multiple of nothing; that nothing was answered has failed the benchmark already.
    else if (other !== 0) values.push(value / other)
  }
  const middle = median(values)
  let met: boolean | null = null
  if (target !== undefined && values.length > 0) {
    met = 'atLeast' in target ? middle >= target.atLeast : middle <= target.atMost
  }
  return { values, median: middle, met }
}

/** A comparison's value as people read it. */
export function formatValue({ figure, to, as }: Comparison, value: number): string {
  if (Number.isNaN(value)) return '–'
  if (to !== undefined && as !== 'difference') return `${value.toFixed(2)} ×`
  return format(figure, value)
}

export function formatTarget({ target, ...comparison }: Comparison): string {
  if (target === undefined) return '–'
  const [words, value] = 'atLeast' in target ? ['at least', target.atLeast] : ['at most', target.atMost]
  return `${words} ${formatValue(comparison, value)}`
}
