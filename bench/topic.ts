import type { Rig } from './rig.ts'

/** What is measured of a run, and how it is shown. */
export const FIGURES = {
  answered: { heading: 'answered', digits: 0 },
  acknowledged: { heading: 'with the warm-up', digits: 0 },
  perSecond: { heading: 'answered/s', digits: 0 },
  p50Ms: { heading: 'median ms', digits: 2 },
  p99Ms: { heading: '99th percentile ms', digits: 2 },
  statementsPer1000: { heading: 'statements per 1,000', digits: 1 },
  cpuMicros: { heading: 'CPU µs per request', digits: 1 },
  counted: { heading: 'counted', digits: 0 },
  errors: { heading: 'errors', digits: 0 },
} as const

export type FigureName = keyof typeof FIGURES
export type Figures = Partial<Record<FigureName, number>>

/** One variant, measured once. */
export interface Run {
  round: number
  variant: string
  figures: Figures
  /** What must never be and was: errors, counts that do not match. */
  violations: string[]
}

/** What measuring a variant once gives. */
export type Outcome = Pick<Run, 'figures' | 'violations'>

/** What is measured side by side with others. */
export interface Variant {
  name: string
  /** What it is, in a few words. */
  about: string
  /**
   * @param round from 1
   * @param seconds how long to measure, without warming up
   */
  measure(rig: Rig, round: number, seconds: number): Promise<Outcome>
}

/** A figure of one variant, or how it compares with another one's of the same round; and what it should be. */
export interface Comparison {
  /** What it says, in words. */
  says: string
  figure: FigureName
  of: string
  /** Variant to divide by, or to subtract. Default: none, the figure itself. */
  to?: string
  /** Default: the ratio. */
  as?: 'ratio' | 'difference'
  /** What the median of all rounds should be. */
  target?: { atLeast: number } | { atMost: number }
}

/** Something beside the runs, in the form in which it is shown. */
export interface Table {
  title: string
  headings: string[]
  rows: string[][]
}

/** Measurements that belong together. */
export interface Topic {
  /** As in `--only`. */
  name: string
  title: string
  /** What is measured and how, for readers of the report. */
  text: string
  variants: Variant[]
  /** Figures to show for each variant. */
  columns: FigureName[]
  comparisons: Comparison[]
  /** What is looked at once, after the rounds. */
  once?(rig: Rig, seconds: number): Promise<Table[]>
}
