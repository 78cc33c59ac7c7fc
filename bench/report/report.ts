import { format } from '../harness/rounds.ts'
import { FIGURES, type FigureName, type Table, type Topic, type Variant } from '../topic.ts'
import { chartsOf } from './chart.ts'
import { formatTarget, formatValue, judge, median } from './comparison.ts'
import type { Results, TopicResults } from './results.ts'

const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\` from [results/](results); edit the topics and \`report/\` instead.

## How to run them

\`\`\`sh
npm run bench                                # everything, with progress; about an hour
npm run bench -- contention roll-up          # some questions, by name; what is known of the others stays
npm run bench -- --render                    # the report anew, from the results there are
\`\`\`

\`npm run bench -- --help\` lists the questions, and what they consist of, which can be named as well. wrk, the load generator, and Redis are installed if they are missing. The database
is the one that \`MYSQL_URL\` names, else a throw-away one, as for the tests; what compares MySQL with MariaDB starts the other one
beside it, if it is installed. The machine, and the server, should have nothing else to do. Every question takes less than ten
minutes; interrupted, it leaves nothing running, and what was measured before stays.

## How it is measured

The Worker is built as \`wrangler deploy\` does and runs on workerd itself, one isolate, without \`wrangler dev\` in front. It
reaches a real database server with durable settings through the local PlanetScale endpoint, which runs in a process of its
own. Load comes from wrk, on the same machine: every connection sends its next request once the last one was answered. So
absolute figures say little; what counts is how variants compare that were measured side by side.

Unless it says otherwise, every run has a database, an endpoint and a workerd of its own, and is warmed up before it is measured.
The variants take turns in every round, in rotating order, every other round backwards. A ratio is taken within each round;
shown is the median of all rounds, and in charts a line from the least to the most. After each run the sum in the database is
compared with what was answered: at least as much, and no more than that and what was under way when the load was cut off. A
single error or a count that does not match fails the whole benchmark. The raw figures of every run are in [results/](results).
`

interface Measured {
  topic: Topic
  result: TopicResults
  /** What its heading begins with. */
  heading: '##' | '###'
}

/** Renders the report of everything that was measured; what belongs to a question, below the first that answers it. */
export function renderReport(questions: readonly (readonly Topic[])[], results: Results): string {
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
    table(
      ['', 'measured', 'target', 'met'],
      measured.flatMap(({ topic, result }) =>
        topic.comparisons.map((comparison) => {
          const { median, met } = judge(comparison, result.runs)
          const verdict = met === null ? '–' : met ? 'yes' : '**no**'
          return [comparison.says, formatValue(comparison, median), formatTarget(comparison), verdict]
        }),
      ),
    ),
    circumstances(measured),
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
  return lines.length === 0 ? [] : [`## Failed\n\nThese figures prove nothing:\n\n${lines.join('\n')}\n`]
}

/** Where, when and with what it was measured; topics that were measured alike share a line. */
function circumstances(measured: Measured[]): string {
  const alike = Map.groupBy(measured, ({ result: { environment } }) => {
    const { machine, versions, databaseSettings, secondDatabase } = environment
    const { cpu, cores, memoryGiB, kernel } = machine
    const pairs = (record: Record<string, string>) => Object.entries(record).map(([name, value]) => `${name} ${value}`)
    const second = secondDatabase && `, and ${secondDatabase.version} (${pairs(secondDatabase.settings).join(', ')})`
    return (
      `${environment.date.slice(0, 10)}, on ${cpu}, ${cores} cores, ` +
      `${memoryGiB} GiB, ${kernel}; ${pairs(versions).join(', ')} (${pairs(databaseSettings).join(', ')})${second ?? ''}`
    )
  })
  const lines = [...alike].map(([text, group]) => {
    const loads = group.map(({ topic, result: { environment, extent, tookSeconds } }) => {
      const took = tookSeconds === undefined ? '' : ` in ${minutes(tookSeconds)}`
      return `\`${topic.name}\` ${extent.rounds} × ${extent.seconds} s${took} at ${environment.machine.loadBefore}`
    })
    return `- ${text}; rounds, seconds of each run, time for all of them where it was taken down, and load average of the minute before: ${loads.join(', ')}`
  })
  return `## Measured\n\n${lines.join('\n')}\n`
}

const minutes = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')} min`

function section({ topic, result: results, heading }: Measured): string[] {
  const { title, text, variants, comparisons } = topic
  const { runs, tables, skipped = [] } = results
  const lines = [`${heading} ${title}\n`]
  for (const { name, alt } of chartsOf(topic, results)) lines.push(`![${alt}](charts/${name}.svg)\n`)
  // A sentence about what was not measured here says nothing.
  const findings = (topic.findings?.(results) ?? []).filter((sentence) => !/NaN|Infinity/.test(sentence))
  if (findings.length > 0) lines.push(`${findings.join(' ')}\n`)
  lines.push(`${text}\n`)
  if (skipped.length > 0) lines.push(`Not measured there: ${skipped.join('; ')}.\n`)
  const known = variants.filter(({ name }) => runs.some((run) => run.variant === name))
  for (const [title, some] of Map.groupBy(known, ({ table }) => table ?? '')) {
    if (title !== '') lines.push(`${heading}# ${title}\n`)
    lines.push(mediansOf(topic, some, results))
  }
  if (comparisons.length > 0) {
    const rows = comparisons.map((comparison) => {
      const { values, median } = judge(comparison, runs)
      return [
        comparison.says,
        formatValue(comparison, median),
        values.map((value) => formatValue(comparison, value)).join(', '),
      ]
    })
    lines.push(table(['', 'median', 'each round'], rows))
  }
  for (const { title, headings, rows, text, hidden } of [...(topic.derived?.(results) ?? []), ...tables]) {
    if (hidden) continue
    lines.push(`${heading}# ${title}\n`, ...(text === undefined ? [] : [`${text}\n`]), table(headings, rows))
  }
  return lines
}

/** The medians of the variants that stand in one table, of the figures that any of them has. */
function mediansOf(topic: Topic, variants: readonly Variant[], { runs }: TopicResults): string {
  const medianOf = (variant: string, figure: FigureName) => {
    const values = runs.filter((run) => run.variant === variant).map(({ figures }) => figures[figure])
    const known = values.filter((value) => value !== undefined)
    return known.length === 0 ? '–' : format(figure, median(known))
  }
  const columns = topic.columns.filter((figure) => variants.some(({ name }) => medianOf(name, figure) !== '–'))
  const rows = variants.map(({ name, about }) => [name, about, ...columns.map((figure) => medianOf(name, figure))])
  return table(['medians of', '', ...columns.map((figure) => FIGURES[figure].heading)], rows)
}

function table(headings: Table['headings'], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return `${[line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n')}\n`
}
