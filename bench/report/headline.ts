import { about, medianOf } from './points.ts'
import type { Results } from './results.ts'

const BEGIN = '<!-- figures: written by npm run bench -- --render -->'
const END = '<!-- /figures -->'

/** Each a sentence with figures of one topic; those of what was not measured are left out. */
const LINES: {
  topic: string
  say(
    median: (
      variant: string,
      figure: 'perSecond' | 'p50Ms' | 'p99Ms' | 'statementsPer1000' | 'rowsPerSecond',
    ) => number,
  ): string
}[] = [
  {
    topic: 'hot-key',
    say: (median) =>
      `One key, 256 connections, every hit answered after its commit: ${about(median('POST /hit?…', 'perSecond'))} hits/s on one ` +
      `isolate, with ${about(median('POST /hit?…', 'statementsPer1000'))} statements per 1,000 hits.`,
  },
  {
    topic: 'latency',
    say: (median) =>
      `The same with 5 ms of network and 2 ms per commit: ${about(median('group commit without a body, 256 connections', 'perSecond'))} hits/s, ` +
      `against ${about(median('one row, 256 connections', 'perSecond'))} with one row per counter and ` +
      `${about(median('published pattern, 256 connections', 'perSecond'))} with the slotted counter pattern as published.`,
  },
  {
    topic: 'idle',
    say: (median) =>
      `A single hit: ${about(median('POST /hit', 'p50Ms'))} ms in the median, its commit included; one bare statement takes ` +
      `${about(median('one statement', 'p50Ms'))} ms.`,
  },
  {
    topic: 'reading',
    say: (median) =>
      `An exact count with 1,000 slots pending is read in ${about(median('exact, 1,000 pending', 'p50Ms'))} ms, a plain row in ` +
      `${about(median('one row', 'p50Ms'))} ms.`,
  },
  {
    topic: 'roll-up',
    say: (median) =>
      `The roll-up moves ${about(median('roll-up', 'rowsPerSecond'))} slots/s; writers’ 99th percentile is ` +
      `${about(median('writers beside a roll-up', 'p99Ms'))} ms while it runs and ${about(median('writers alone', 'p99Ms'))} ms without.`,
  },
]

/**
 * Puts the headline figures into README.md.
 *
 * @throws {Error} if the place for them is missing
 */
export function renderHeadline(readme: string, results: Results): string {
  const [before, rest] = readme.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined)
    throw new Error(`README.md has no place for figures: ${BEGIN} … ${END}`)
  const lines = LINES.flatMap(({ topic, say }) => {
    const measured = results[topic]
    const line = measured === undefined ? '' : say((variant, figure) => medianOf(measured.runs, variant, figure))
    return line === '' || line.includes('NaN') ? [] : [`- ${line}`]
  })
  const [first] = Object.values(results)
  const machine = first?.environment.machine
  const where = machine
    ? `Measured on ${machine.cores} cores that Worker, database and load generator share`
    : 'Not measured yet'
  return `${before}${BEGIN}\n${where} ([bench/README.md](bench/README.md)):\n\n${lines.join('\n')}\n${END}${after}`
}
