import { formatTarget, formatValue, judge, median } from './comparison.ts'
import type { Results, TopicResults } from './results.ts'
import { format } from './rounds.ts'
import { FIGURES, type FigureName, type Topic } from './topic.ts'

const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\` from [results/write-path.json](results/write-path.json); edit \`report.ts\` instead.

## How to run them

\`\`\`sh
sudo apt-get install wrk     # the load generator
npm run bench                # everything, in less than ten minutes
npm run bench -- --only hot-key --rounds 3 --seconds 2
\`\`\`

\`npm run bench -- --help\` lists what there is. The database is the one that \`MYSQL_URL\` names, else a throw-away one, as for the
tests. The machine should have nothing else to do.

## How it is measured

The Worker is built as \`wrangler deploy\` does and runs on workerd itself, one isolate, without \`wrangler dev\` in front. It
reaches a real database server with durable settings through the local PlanetScale endpoint, which runs in a process of its
own. Load comes from wrk, on the same machine: every connection sends its next request once the last one was answered. So
absolute figures say little; what counts is how variants compare that were measured side by side.

Every run has a database, an endpoint and a workerd of its own, and is warmed up before it is measured. The variants take turns
in every round, in rotating order, every other round backwards. A ratio is taken within each round; shown is the median of all
rounds. After each run the sum in the database is compared with what was answered: at least as much, and no more than that and
what was under way when the load was cut off. A single error or a count that does not match fails the whole benchmark.
`

/** Renders the report of everything that was measured. */
export function renderReport(topics: readonly Topic[], results: Results): string {
  const measured = topics.flatMap((topic) => {
    const result = results[topic.name]
    return result === undefined ? [] : [{ topic, result }]
  })
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
    ...measured.flatMap(({ topic, result }) => section(topic, result)),
    '## Raw figures\n',
    ...measured.flatMap(({ topic, result }) => raw(topic, result)),
  ]
  return `${sections.join('\n').trim()}\n`
}

type Measured = { topic: Topic; result: TopicResults }

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
  const alike = Map.groupBy(measured, ({ result: { environment, extent } }) => {
    const { machine, versions, databaseSettings } = environment
    const { cpu, cores, memoryGiB, kernel } = machine
    const pairs = (record: Record<string, string>) => Object.entries(record).map(([name, value]) => `${name} ${value}`)
    return (
      `${environment.date.slice(0, 10)}, ${extent.rounds} rounds of ${extent.seconds} s, on ${cpu}, ${cores} cores, ` +
      `${memoryGiB} GiB, ${kernel}; ${pairs(versions).join(', ')} (${pairs(databaseSettings).join(', ')})`
    )
  })
  const lines = [...alike].map(([text, group]) => {
    const loads = group.map(({ topic, result }) => `\`${topic.name}\` at ${result.environment.machine.loadBefore}`)
    return `- ${text}; load average of the minute before: ${loads.join(', ')}`
  })
  return `## Measured\n\n${lines.join('\n')}\n`
}

function section({ title, text, variants, columns, comparisons }: Topic, { runs, tables }: TopicResults): string[] {
  const lines = [`## ${title}\n`, `${text}\n`]
  if (variants.length > 0) {
    const medianOf = (variant: string, figure: FigureName) => {
      const values = runs.filter((run) => run.variant === variant).map(({ figures }) => figures[figure])
      const known = values.filter((value) => value !== undefined)
      return known.length === 0 ? '–' : format(figure, median(known))
    }
    const rows = variants.map(({ name, about }) => [name, about, ...columns.map((figure) => medianOf(name, figure))])
    lines.push(table(['medians of', '', ...columns.map((figure) => FIGURES[figure].heading)], rows))
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
  for (const { title, headings, rows } of tables) lines.push(`### ${title}\n`, table(headings, rows))
  return lines
}

function raw({ name, title, variants }: Topic, { runs }: TopicResults): string[] {
  if (variants.length === 0) return []
  const all = Object.keys(FIGURES) as FigureName[]
  const rows = runs.map(({ round, variant, figures }) => [
    String(round),
    variant,
    ...all.map((figure) => format(figure, figures[figure])),
  ])
  return [`### ${title} (\`${name}\`)\n`, table(['round', '', ...all.map((figure) => FIGURES[figure].heading)], rows)]
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return `${[line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n')}\n`
}
