import { MAX_ATTEMPTS, QUIET_PERCENT } from '../harness/run-rounds.ts'
import type { Run } from '../harness/variant.ts'
import { renderOthers } from '../topics/alternatives/alternatives.ts'
import { renderQuiet } from '../topics/idle/idle.ts'
import { billOf } from '../topics/scale/scale-document.ts'
import { type Comparison, formatTarget, formatValue, judge } from './comparison.ts'
import { renderTable } from './markdown-table.ts'
import { headlines } from './readme-figures.ts'
import type { Results, TopicResults } from './results.ts'
import { chartsOf, findingsOf, type Topic } from './topic.ts'

const METHOD = `## How to run the benchmarks

\`\`\`sh
npm run bench -- --plan              # measures nothing; says how long everything takes
npm run bench -- --rounds 3          # everything
npm run bench -- hot-key roll-up     # some topics; the results of all others are kept
npm run bench -- --render            # measures nothing; renders this file from the results
\`\`\`

- \`--help\` lists the topics. [results/](results) has the figures of every run.
- Missing wrk and Redis are installed; nginx with GoAccess, and web-counter, are compared only if present. \`MYSQL_URL\` names the database server; without it, a temporary one is started.
- Nothing else should run. If you interrupt a run, the topics measured so far are kept.

## How it is measured

The Worker is built as \`wrangler deploy\` builds it, and runs in one isolate of workerd. It reaches a database server with durable settings through the local
PlanetScale endpoint, a separate process. wrk, the load generator, runs on the same machine; each connection sends its next request as soon as it has the last response.

- Unless stated otherwise, each run has its own database, endpoint and workerd, is warmed up first, and has no latency added.
- The variants take turns in every round, and ratios are taken within a round. The tables show the median, lowest and highest ratio. **Bold**: the median missed its target.
- The benchmark fails if a request fails, or if the database holds fewer hits than were answered or more than were sent.
- MySQL's log writer threads are on, as at PlanetScale ([why](notes.md#the-benchmark-itself)), but off in \`vtgate\`.
- A run that loses more than ${QUIET_PERCENT}% of the processor time to other virtual machines is repeated, up to ${MAX_ATTEMPTS} runs in all. The run that lost least is used.
`

/** The answers that most readers look for. */
function summary(results: Results): string {
  const others = renderOthers(results)
  const quiet = renderQuiet(results)
  return [
    '# Benchmarks\n',
    ...(quiet === null
      ? ['**Is it fast?** On two cores, which everything shares:\n']
      : [
          '**Is it fast?** Most sites are quiet, and a request may have to start an isolate:\n',
          quiet,
          'On two cores, which everything shares:\n',
        ]),
    ...headlines(results).flatMap(({ line, hasTable }) => (hasTable ? [] : `- ${line}`)),
    '',
    `**What does it cost?** ${billOf(results) ?? ''} [Capacity and cost](../docs/scale.md) has more. [On one machine](../docs/one-machine.md), you pay only for the machine.\n`,
    ...(others === null
      ? []
      : [`**How do others do?** With 64 connections ([how](#would-another-way-of-counting-be-better)):\n`, others]),
    'Below, each question starts with its answer. [notes.md](notes.md) says what was tried.\n',
  ].join('\n')
}

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
    summary(results),
    ...failures(measured),
    ...measured.flatMap(section),
    METHOD,
    environments(measured),
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

/** The number of rounds that most topics had. */
function usualRounds(measured: Measured[]): number {
  const numbers = measured.map(({ result }) => result.extent.rounds)
  const timesOf = (rounds: number) => numbers.filter((number) => number === rounds).length
  return Math.max(0, ...numbers.toSorted((a, b) => timesOf(a) - timesOf(b)).slice(-1))
}

/** Where and when the topics were measured. */
function environments(measured: Measured[]): string {
  const usual = usualRounds(measured)
  const byEnvironment = Map.groupBy(measured, ({ result: { environment } }) => {
    const { machine, versions, databaseSettings, secondDatabase } = environment
    const isolation = databaseSettings.transaction_isolation ?? databaseSettings.tx_isolation
    const servers = [versions.database, secondDatabase?.version].filter((server) => server !== undefined).join(' and ')
    return [
      environment.date.slice(0, 10),
      machine.cpu,
      `${machine.cores} cores`,
      `${machine.memoryGiB} GiB`,
      servers.replaceAll(/ \(\w+_URL\)/g, ''),
      ...(isolation === undefined ? [] : [isolation.replace('-', ' ')]),
    ].join(', ')
  })
  const lines = [...byEnvironment].map(([text, group]) => {
    const topics = group.map(({ topic, result: { extent } }) => {
      return `\`${topic.name}\`${extent.rounds === usual ? '' : ` (${extent.rounds})`}`
    })
    return `- ${text}: ${topics.join(', ')}.\n`
  })
  const lost = Math.max(0, ...measured.map(({ result }) => lostPercent(result) ?? 0))
  return (
    `## Environments\n\nTopics had ${usual} rounds, or the number in parentheses. No topic lost more than ${lost.toFixed(1)}% of the processor time to other ` +
    `virtual machines.\n\n${lines.join('')}`
  )
}

/** Percent of the processor time that the host gave to others: the mean of the runs or, in older results, of everything. */
function lostPercent({ runs, environment }: TopicResults): number | null {
  const known = runs.map(({ stolenPercent }) => stolenPercent).filter((percent) => percent != null)
  if (known.length === 0) return environment.machine.stolenPercent ?? null
  return known.reduce((sum, percent) => sum + percent, 0) / known.length
}

function section({ topic, result, heading }: Measured): string[] {
  const { title, text, comparisons, missed, listed = true } = topic
  const { runs, skipped = [] } = result
  const lines = [`${heading} ${title}\n`]
  for (const { name, alt } of chartsOf(topic, result)) lines.push(`![${alt}](charts/${name}.svg)\n`)
  const findings = findingsOf(topic, result)
  if (findings.length > 0) lines.push(`${findings.map((sentence) => `- ${sentence}`).join('\n')}\n`)
  lines.push(`${text}\n`)
  if (skipped.length > 0) lines.push(`Not measured here: ${skipped.join('; ')}.\n`)
  if (listed && comparisons.length > 0) {
    lines.push(tableOfComparisons(comparisons, runs))
    const isMissed = comparisons.some((comparison) => judge(comparison, runs).met === false)
    if (isMissed && missed !== undefined) lines.push(`**Why targets are missed.** ${missed}\n`)
  }
  for (const { title, headings, rows, text } of topic.derived?.(result) ?? []) {
    lines.push(`${heading}# ${title}\n`, ...(text === undefined ? [] : [`${text}\n`]), renderTable(headings, rows))
  }
  return lines
}

/** A table of verdicts. A median that missed its target is bold. */
function tableOfComparisons(comparisons: readonly Comparison[], runs: readonly Run[]): string {
  const targets = comparisons.some(({ target }) => target !== undefined)
  const rows = comparisons.map((comparison) => {
    const { values, median, met } = judge(comparison, runs)
    const value = formatValue(comparison, median)
    const [low, high] = [Math.min(...values), Math.max(...values)].map((bound) => formatValue(comparison, bound))
    const spread = values.length === 0 || low === high ? '' : ` (${low}–${high})`.replaceAll('×', '')
    const row = [comparison.label, (met === false ? `**${value}**` : value) + spread]
    return targets ? [...row, formatTarget(comparison)] : row
  })
  return renderTable(['', 'median (rounds)', ...(targets ? ['target'] : [])], rows)
}
