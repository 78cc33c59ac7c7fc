import type { Figures } from './figure-names.ts'
import type { Need, Testbed } from './shared-testbed.ts'

/** One variant, measured once. */
export interface Run {
  round: number
  variant: string
  /** Percent of the processor time that the host gave to others. `null` if unknown, missing in older results. */
  stolenPercent?: number | null
  figures: Figures
  /** Invariants that did not hold: errors, counts that do not match. */
  violations: string[]
}

/** The result of measuring a variant once. */
export type Outcome = Pick<Run, 'figures' | 'violations'>

/** One of several things that are measured side by side. */
export interface Variant {
  /** Identifies it in bench/results and on the command line. */
  name: string
  /** A shorter name, for charts and the command line. Default: its name. */
  title?: string
  /** What it is, in a few words. */
  about: string
  /** Its place in charts. */
  axes?: Record<string, string | number>
  /** What it needs; if that is missing, the variant is skipped. */
  needs?: readonly Need[]
  /**
   * @param round from 1
   * @param seconds how long to measure, without the warm-up
   */
  measure(testbed: Testbed, round: number, seconds: number): Promise<Outcome>
}
