import type { Need, Rig } from './harness/rig.ts'
import type { Chart } from './report/chart.ts'
import type { TopicResults } from './report/results.ts'

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
  lockWaitsPer1000: { heading: 'lock waits per 1,000', digits: 1 },
  deadlocksPer1000: { heading: 'deadlocks per 1,000', digits: 2 },
  idsPer1000: { heading: 'ids burnt per 1,000', digits: 0 },
  rowsPerSecond: { heading: 'slots moved/s', digits: 0 },
  rows: { heading: 'slots moved', digits: 0 },
  milliseconds: { heading: 'ms', digits: 1 },
  statements: { heading: 'statements', digits: 0 },
  peakMiB: { heading: 'memory MiB', digits: 1 },
  startMs: { heading: 'ms to the first answer', digits: 1 },
  kilobytes: { heading: 'kB', digits: 1 },
  gzipKilobytes: { heading: 'kB gzipped', digits: 1 },
  told: { heading: 'acknowledged', digits: 0 },
  untold: { heading: 'no answer to the end', digits: 0 },
  lost: { heading: 'lost', digits: 0 },
  doubled: { heading: 'doubled', digits: 0 },
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
  /** The table that it stands in. Default: the topic's only one. */
  table?: string
  /** Where it stands in charts. */
  axes?: Record<string, string | number>
  /** What it needs; without it, it is left out. */
  needs?: readonly Need[]
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
  /** For readers of it. */
  text?: string
  /** Kept with the results and drawn, but too long to read. */
  hidden?: true
}

/** Measurements that belong together. */
export interface Topic {
  /** As on the command line. */
  name: string
  title: string
  /** What is measured and how, for readers of the report. */
  text: string
  /** Seconds of each run, without its warm-up. Default: 3. */
  seconds?: number
  variants: Variant[]
  /** Figures to show for each variant. */
  columns: FigureName[]
  comparisons: Comparison[]
  /** What else is needed, for what is looked at once. */
  needs?: readonly Need[]
  /** Whether MySQL is to write its log by threads of its own: see `BenchServer`. Default: as the server is set. */
  logWriterThreads?: true
  /** What is looked at once, after the rounds. */
  once?(rig: Rig, seconds: number, rounds: number): Promise<Table[]>
  /** Pictures of what was measured. */
  charts?(results: TopicResults): Chart[]
  /** What somebody can act on: sentences whose figures come from what was measured. */
  findings?(results: TopicResults): string[]
  /** Tables that are worked out from what was measured. */
  derived?(results: TopicResults): Table[]
}
