import type { FigureName } from '../harness/figure-names.ts'
import type { Need, Testbed } from '../harness/shared-testbed.ts'
import type { Variant } from '../harness/variant.ts'
import type { Chart } from './chart.ts'
import type { Comparison } from './comparison.ts'
import type { Table, TopicResults } from './results.ts'

/** Measurements that belong together. */
export interface Topic {
  /** As on the command line. */
  name: string
  title: string
  /** What is measured and how, for readers of the report. */
  text: string
  /** Seconds of each run, without its warm-up. Default: 3. */
  seconds?: number
  /** The most rounds, for topics whose figures vary little. Default: as many as are asked for. */
  mostRounds?: number
  variants: Variant[]
  /** Figures to print after each run. */
  columns: FigureName[]
  comparisons: Comparison[]
  /** Why a median misses its target. The report says it below the comparisons while one does. */
  missed?: string
  /** Whether the report lists the comparisons. Default: true. */
  listed?: boolean
  /** What `once` needs beyond the needs of the variants. */
  needs?: readonly Need[]
  /** Measurements outside the rounds, made once after them. Their tables are only in `results/`. */
  once?(testbed: Testbed, seconds: number, rounds: number): Promise<Table[]>
  charts?(results: TopicResults): Chart[]
  /** Conclusions that readers can act on: sentences whose figures come from the results. */
  findings?(results: TopicResults): string[]
  /** Tables computed from the results. */
  derived?(results: TopicResults): Table[]
}

/** The charts of a topic that have something to show. */
export function chartsOf(topic: Topic, results: TopicResults): Chart[] {
  const charts = topic.charts?.(results) ?? []
  return charts.filter(({ spec }) => (spec as { data: { values: unknown[] } }).data.values.length > 0)
}

/** The findings of a topic, without those about variants that were not measured. */
export function findingsOf(topic: Topic, results: TopicResults): string[] {
  return (topic.findings?.(results) ?? []).filter((sentence) => !/NaN|Infinity/.test(sentence))
}
