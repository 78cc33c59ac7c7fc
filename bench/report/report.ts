import { FIGURES, type FigureName, formatFigure } from '../harness/figure-names.ts'
import { MAX_ATTEMPTS, QUIET_PERCENT } from '../harness/run-rounds.ts'
import type { Variant } from '../harness/variant.ts'
import { formatTarget, formatValue, judge } from './comparison.ts'
import { renderTable } from './markdown-table.ts'
import { medianOf } from './medians.ts'
import type { Results, TopicResults } from './results.ts'
import { chartsOf, findingsOf, type Topic } from './topic.ts'

const INTRODUCTION = `# Benchmarks

\`npm run bench\` generates this file from [results/](results). To change its text, edit the topics and \`report/\`. What was tried to make
things faster, and whether it helped, is in [notes.md](notes.md).

## How to run them

\`\`\`sh
npm run bench                          # everything; takes about an hour
npm run bench -- contention roll-up    # some questions; the results of all others are kept
npm run bench -- --render              # only render the report from the existing results
\`\`\`

- \`npm run bench -- --help\` lists the questions and their parts. Parts can be run alone.
- The load generator wrk and Redis are installed if they are missing.
- \`MYSQL_URL\` names the database server to use. Without it, a temporary one is started, as for the tests. Topics that compare
  MySQL with MariaDB start the second server themselves, if it is installed.
- The machine and the server should be otherwise idle.
- Each question takes less than ten minutes on a quiet machine. If you interrupt a run, everything it started is stopped, and the topics measured so far
  are kept.

## How it is measured

The Worker is built as \`wrangler deploy\` builds it, and runs in one isolate of workerd, without \`wrangler dev\`. It reaches a real
database server with durable settings through the local PlanetScale endpoint, which runs in a separate process. wrk sends the load
from the same machine: every connection sends its next request as soon as it has the last response. Absolute figures therefore say
little. What counts is how variants compare that were measured side by side.

- Unless stated otherwise, every run has its own database, endpoint and workerd, and is warmed up first.
- The variants take turns in every round. Each round starts with another variant, and every second round runs backwards.
- Ratios are taken within a round. The tables show the median of all rounds, and charts add a line from minimum to maximum.
- After each run, the sum in the database is compared with the number of responses. It must be at least as high, and may exceed it
  only by the requests that were in flight when the load ended. A single error or a wrong count fails the whole benchmark.
- The benchmarks turn on MySQL's log writer threads, as on PlanetScale ([notes.md](notes.md)). In older results they may be off.
- On a virtual machine, the host may give processor time to others. A run that loses more than ${QUIET_PERCENT} % is measured again, at most
  ${MAX_ATTEMPTS} times in all, and the one that lost least counts, whatever it measured. [Environments](#environments) says how much was lost, how
  often runs were repeated, and whether the threads were on. Its totals leave out repeats.
- [results/](results) has the raw figures of every run.
`

/** The topics that answer one question. The first one's title is the question. */
export type Question = readonly Topic[]

interface Measured {
  topic: Topic
  result: TopicResults
  heading: '##' | '###'
}

/** Renders the report of everything that was measured. The parts of a question follow its first topic. */
export function renderReport(questions: readonly Question[], results: Results): string {
  const measured = questions.flatMap((question) =>
    question.flatMap((topic, i): Measured[] => {
      const result = results[topic.name]
      return result === undefined ? [] : [{ topic, result, heading: i === 0 ? '##' : '###' }]
    }),
  )
  const sections = [
    INTRODUCTION,
    ...failures(measured),
    '## At a glance\n',
    renderTable(
      ['', 'measured', 'target', 'met'],
      measured.flatMap(({ topic, result }) =>
        topic.comparisons.map((comparison) => {
          const { median, met } = judge(comparison, result.runs)
          const verdict = met === null ? '–' : met ? 'yes' : '**no**'
          return [comparison.label, formatValue(comparison, median), formatTarget(comparison), verdict]
        }),
      ),
    ),
    environments(measured),
    ...measured.flatMap(section),
  ]
  return `${sections.join('\n').trim()}\n`
}

function failures(measured: Measured[]): string[] {
  const lines = measured.flatMap(({ topic, result }) =>
    result.runs.flatMap(({ variant, round, violations }) =>
      violations.map((violation) => `- ${topic.name}, round ${round}, ${variant}: ${violation.replaceAll('\n', ' ')}`),
    ),
  )
  return lines.length === 0
    ? []
    : [`## Failed\n\nSome runs failed. Do not rely on these figures:\n\n${lines.join('\n')}\n`]
}

/** Where, when and with which versions it was measured. Topics measured in the same environment share a section. */
function environments(measured: Measured[]): string {
  const byEnvironment = Map.groupBy(measured, ({ result: { environment } }) => {
    const { machine, versions, databaseSettings, secondDatabase } = environment
    const { cpu, cores, memoryGiB, kernel } = machine
    const pairs = (record: Record<string, string>) => Object.entries(record).map(([name, value]) => `${name} ${value}`)
    const second = secondDatabase && `, and ${secondDatabase.version} (${pairs(secondDatabase.settings).join(', ')})`
    return (
      `${environment.date.slice(0, 10)}, on ${cpu}, ${cores} cores, ` +
      `${memoryGiB} GiB, ${kernel}; ${pairs(versions).join(', ')} (${pairs(databaseSettings).join(', ')})${second ?? ''}`
    )
  })
  const lines = [...byEnvironment].map(([text, group]) => {
    const rows = group.map(({ topic, result }) => {
      const { environment, extent, tookSeconds, repeats } = result
      const lost = lostPercent(result)
      return [
        `\`${topic.name}\``,
        `${extent.rounds} × ${extent.seconds} s`,
        tookSeconds === undefined ? '–' : minutes(tookSeconds),
        repeats === undefined
          ? '–'
          : repeats.attempts === 0
            ? '0'
            : `${repeats.attempts} (${minutes(repeats.seconds)})`,
        String(environment.machine.loadBefore),
        lost === null ? '–' : `${lost.toFixed(1)} %`,
      ]
    })
    const headings = [
      'topic',
      'rounds × run',
      'total (min:s)',
      'repeats (min:s)',
      'load average before',
      'processor time lost to others',
    ]
    return `${text}:\n\n${renderTable(headings, rows)}`
  })
  return `## Environments\n\n${lines.join('\n')}`
}

/** Percent of the processor time that the host gave to others: the mean of the runs or, in older results, of everything. */
function lostPercent({ runs, environment }: TopicResults): number | null {
  const known = runs.map(({ stolenPercent }) => stolenPercent).filter((percent) => percent != null)
  if (known.length === 0) return environment.machine.stolenPercent ?? null
  return known.reduce((sum, percent) => sum + percent, 0) / known.length
}

const minutes = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`

function section({ topic, result: results, heading }: Measured): string[] {
  const { title, text, variants, comparisons } = topic
  const { runs, tables, skipped = [] } = results
  const lines = [`${heading} ${title}\n`]
  for (const { name, alt } of chartsOf(topic, results)) lines.push(`![${alt}](charts/${name}.svg)\n`)
  const findings = findingsOf(topic, results)
  if (findings.length > 0) lines.push(`${findings.map((sentence) => `- ${sentence}`).join('\n')}\n`)
  lines.push(`${text}\n`)
  if (skipped.length > 0) lines.push(`Not measured here: ${skipped.join('; ')}.\n`)
  const known = variants.filter(({ name }) => runs.some((run) => run.variant === name))
  for (const [title, some] of Map.groupBy(known, ({ table }) => table ?? '')) {
    if (title !== '') lines.push(`${heading}# ${title}\n`)
    lines.push(tableOfMedians(topic, some, results))
  }
  if (comparisons.length > 0) {
    const rows = comparisons.map((comparison) => {
      const { values, median } = judge(comparison, runs)
      return [
        comparison.label,
        formatValue(comparison, median),
        values.map((value) => formatValue(comparison, value)).join(', '),
      ]
    })
    lines.push(renderTable(['', 'median', 'each round'], rows))
  }
  for (const { title, headings, rows, text } of [...(topic.derived?.(results) ?? []), ...tables]) {
    lines.push(`${heading}# ${title}\n`, ...(text === undefined ? [] : [`${text}\n`]), renderTable(headings, rows))
  }
  return lines
}

/** The medians of variants, with the columns that any of them has figures for. */
function tableOfMedians(topic: Topic, variants: readonly Variant[], { runs }: TopicResults): string {
  const cell = (variant: string, figure: FigureName) => {
    const value = medianOf(runs, variant, figure)
    return Number.isNaN(value) ? '–' : formatFigure(figure, value)
  }
  const columns = topic.columns.filter((figure) => variants.some(({ name }) => cell(name, figure) !== '–'))
  const rows = variants.map(({ name, title, about }) => {
    return [title ?? name, about, ...columns.map((figure) => cell(name, figure))]
  })
  return renderTable(['variant', '', ...columns.map((figure) => FIGURES[figure].heading)], rows)
}
