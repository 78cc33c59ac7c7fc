// `npm run bench`: measures, writes what was measured, and renders the report from it.
import { Argument, InvalidArgumentError, program } from 'commander'
import { observeMachine } from './harness/machine.ts'
import { Rig } from './harness/rig.ts'
import { runTopic } from './harness/rounds.ts'
import { installWrk } from './harness/wrk.ts'
import { formatTarget, formatValue, judge } from './report/comparison.ts'
import { writeOutputs } from './report/outputs.ts'
import { readResults, type TopicResults, writeResults } from './report/results.ts'
import type { Topic, Variant } from './topic.ts'
import { QUESTIONS, TOPICS, topicsOf } from './topics/topics.ts'

const SECONDS = 3

const positive = (text: string): number => {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return number
}

interface Options {
  rounds: number
  seconds?: number
  variant?: string[]
  dryRun?: boolean
  render?: boolean
}

program
  .name('npm run bench --')
  .description(
    'Measures, and writes bench/results/NAME.json, bench/README.md, its charts, and the figures in README.md.',
  )
  .addArgument(
    new Argument('[names...]', 'what to measure; what is known of the others stays (default: everything)').choices(
      TOPICS.map(({ name }) => name),
    ),
  )
  .option('--rounds <number>', 'times that each variant is measured', positive, 5)
  .option('--seconds <number>', 'length of each run, without its warm-up (default: what suits each)', positive)
  .option('--variant <text...>', 'only variants whose names hold one of these; prints, and writes nothing')
  .option('--dry-run', 'print what was measured, and write nothing')
  .option('--render', 'write everything anew that is made from the results there are, and measure nothing')
  .addHelpText(
    'after',
    `\nWhat there is. What is set in is measured together with what it stands below, or alone:\n${list()}\n` +
      '\nEnvironment:\n  MYSQL_URL  the MySQL or MariaDB server to use: mysql://USER:PASSWORD@HOST:PORT',
  )
  .parse()

function list(): string {
  const lines = QUESTIONS.flatMap((question) =>
    question.map(({ name, title }, i) => `${i === 0 ? `  ${name}` : `    ${name}`}`.padEnd(24) + title),
  )
  return lines.join('\n')
}

const { rounds, seconds, variant: wanted, dryRun = wanted !== undefined, render = false } = program.opts<Options>()
const names = program.processedArgs[0] as string[]
const say = (line: string) => console.log(line)

const interrupt = new AbortController()
function stop(why: string): void {
  if (!interrupt.signal.aborted) say(`${why}: stopping …`)
  interrupt.abort()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
// The leash of the npm script stops this process; unless it was killed itself.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop('The process that started this is gone')
  }, 1_000).unref()
}

/** What of a topic is to be measured, and can be here. */
function select(rig: Rig, topic: Topic): { variants: Variant[]; skipped: string[] } {
  const chosen = topic.variants.filter(({ name }) => wanted?.some((text) => name.includes(text)) ?? true)
  const why = ({ needs = [] }: Pick<Variant, 'needs'>) =>
    needs.map((need) => rig.missing(need)).find((text) => text !== null)
  const skipped = new Set([...chosen, topic].map(why).filter((text) => text !== undefined))
  return { variants: chosen.filter((variant) => why(variant) === undefined), skipped: [...skipped] }
}

/**
 * Measures topic by topic, and hands over each as soon as it is done.
 *
 * @returns how many runs failed
 */
async function measure(
  topics: readonly Topic[],
  done: (topic: Topic, results: TopicResults) => Promise<void>,
): Promise<number> {
  await installWrk(say)
  const rig = new Rig({ signal: interrupt.signal, say })
  let failed = 0
  try {
    const needs = topics.flatMap((topic) => [topic, ...topic.variants].flatMap((some) => some.needs ?? []))
    await rig.start(process.env.MYSQL_URL, new Set(needs))
    const began = Date.now()
    const plans = topics.map((topic) => ({ topic, ...select(rig, topic) }))
    const all = plans.reduce((sum, { variants }) => sum + variants.length * rounds, 0)
    let finished = 0
    say(`Measuring on ${rig.servers.map(({ description }) => description).join(' and ')}: ${all} runs.`)
    for (const { topic, variants, skipped } of plans) {
      for (const why of skipped) say(`${topic.name}: left out, ${why}`)
      for (const server of rig.servers) await server.useLogWriterThreads(topic.logWriterThreads ?? false)
      const environment = await observeMachine(rig)
      const topicBegan = Date.now()
      const extent = { rounds, seconds: seconds ?? topic.seconds ?? SECONDS }
      const runs = await runTopic(rig, topic, variants, extent, (line, more) => {
        finished += more
        const left = Math.round((((Date.now() - began) / Math.max(finished, 1)) * (all - finished)) / 1_000)
        say(more > 0 ? `${line} [${finished} of ${all}, ${left} s left]` : line)
      })
      const looked = wanted === undefined && topic.once !== undefined
      if (looked) say(`${topic.name}: looking once …`)
      const tables = looked ? await topic.once!(rig, extent.seconds, rounds) : []
      const tookSeconds = Math.round((Date.now() - topicBegan) / 1_000)
      const left = skipped.length > 0 && { skipped }
      const results = { environment: environment(), extent, tookSeconds, ...left, tables, runs }
      interrupt.signal.throwIfAborted()
      summarize(topic, results)
      failed += runs.filter(({ violations }) => violations.length > 0).length
      await done(topic, results)
    }
    return failed
  } finally {
    await rig.stop()
  }
}

/** The verdicts of a topic. */
function summarize(topic: Topic, results: TopicResults): void {
  const { runs, tables } = results
  say(`\n${topic.title}`)
  for (const comparison of topic.comparisons) {
    const { median, met } = judge(comparison, runs)
    const target = met === null ? '' : ` (${formatTarget(comparison)}: ${met ? 'met' : 'NOT met'})`
    say(`  ${comparison.says}: ${formatValue(comparison, median)}${target}`)
  }
  for (const sentence of topic.findings?.(results) ?? []) if (!/NaN|Infinity/.test(sentence)) say(`  ${sentence}`)
  for (const { title, headings, rows, hidden } of [...(topic.derived?.(results) ?? []), ...tables]) {
    if (hidden) continue
    say(`  ${title}: ${headings.join(' | ')}`)
    for (const row of rows.slice(0, 40)) say(`    ${row.join(' | ')}`)
  }
  say('')
}

try {
  if (render) await writeOutputs(await readResults())
  else {
    const failed = await measure(topicsOf(names), async (topic, results) => {
      if (dryRun) return
      await writeResults(topic.name, results)
      await writeOutputs(await readResults())
      say(`Wrote bench/results/${topic.name}.json, and the report.\n`)
    })
    if (failed > 0) {
      say(`\n${failed} runs FAILED: see above.`)
      process.exitCode = 1
    }
  }
} catch (error) {
  process.exitCode = interrupt.signal.aborted ? 130 : 1
  if (interrupt.signal.aborted) say('Interrupted: nothing is left running, and nothing half-done was written.')
  else console.error(error instanceof Error ? error.message : String(error))
}
