import { judge } from './comparison.ts'
import { putFigures } from './figure-blocks.ts'
import { medianOf, rounded } from './medians.ts'
import type { Results } from './results.ts'

type HeadlineFigure = 'perSecond' | 'p50Ms' | 'startMs' | 'memoryMiB'

/** Sentences with the figures of one topic each. A sentence about something that was not measured is left out. */
const LINES: {
  topic: string
  /** bench/README.md has a table of it. */
  hasTable?: true
  say(
    median: (variant: string, figure: HeadlineFigure) => string,
    beyond: (variant: string, other: string, figure: HeadlineFigure) => string,
  ): string
}[] = [
  {
    topic: 'idle',
    hasTable: true,
    say: (_, beyond) =>
      `The first hit of an isolate: ${beyond('cold: hit, known key, 10 ms away', 'start-up, empty Worker', 'startMs')} ms more than an empty Worker takes, ` +
      'with the database 10 ms away.',
  },
  {
    topic: 'idle',
    say: (median) =>
      `A single hit in a warm isolate: ${median('POST /hit', 'p50Ms')} ms (median), including its commit. Its statement alone, in a bare Worker: ` +
      `${median('one statement', 'p50Ms')} ms.`,
  },
  {
    topic: 'hot-key',
    say: (median) =>
      `One key, 256 connections, each hit answered after its commit: ${median('POST /hit?…', 'perSecond')} hits/s in one ` +
      'warm isolate.',
  },
  {
    topic: 'latency',
    say: (median) =>
      `With 5 ms of network latency and 2 ms per commit: ${median('group commit without a body, 256 connections', 'perSecond')} hits/s. ` +
      `One row per counter: ${median('one row, 256 connections', 'perSecond')}. PlanetScale’s slotted counter pattern, as published: ` +
      `${median('published pattern, 256 connections', 'perSecond')}.`,
  },
  {
    topic: 'one-machine',
    say: (median) =>
      `On one machine, \`slotted-counter serve\`: ${median('serve', 'perSecond')} hits/s from 64 connections, in ${median('serve', 'memoryMiB')} MiB of memory ` +
      'without the database.',
  },
  {
    topic: 'reading',
    say: (median) =>
      `Reading an exact count that has 1,000 rows to add up: ${median('exact, 1,000 pending', 'p50Ms')} ms. Reading a plain row: ` +
      `${median('one row', 'p50Ms')} ms.`,
  },
]

/** The headline figures: a sentence for each topic that was measured. */
export function headlines(results: Results): { line: string; hasTable: boolean }[] {
  return LINES.flatMap(({ topic, hasTable = false, say }) => {
    const measured = results[topic]
    if (measured === undefined) return []
    const { runs } = measured
    const line = say(
      (variant, figure) => rounded(medianOf(runs, variant, figure)),
      (of, to, figure) => rounded(judge({ label: '', figure, of, to, as: 'difference' }, runs).median),
    )
    return line.includes('NaN') ? [] : [{ line, hasTable }]
  })
}

/**
 * Puts the headline figures into README.md, between their markers.
 *
 * @throws {Error} if a marker is missing
 */
export function renderReadmeFigures(readme: string, results: Results): string {
  const lines = headlines(results).map(({ line }) => `- ${line}`)
  const [first] = Object.values(results)
  const machine = first?.environment.machine
  const where = machine ? `Measured on ${machine.cores} cores, load generator included` : 'Not measured yet'
  const headline = `${where} ([bench/README.md](bench/README.md)). Compare only within a line:\n\n${lines.join('\n')}`
  return putFigures(readme, 'README.md', { headline })
}
