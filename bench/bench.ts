// `npm run bench`: measures, writes the results, and renders the report from them.
import { Argument, InvalidArgumentError, program } from 'commander'
import { observeEnvironment } from './harness/environment.ts'
import { runRounds } from './harness/run-rounds.ts'
import { Testbed } from './harness/shared-testbed.ts'
import type { Variant } from './harness/variant.ts'
import { installWrk } from './harness/wrk.ts'
import { MISSING_PACKAGES } from './own-packages.ts'
import { formatTarget, formatValue, judge } from './report/comparison.ts'
import { writeRenderedFiles } from './report/rendered-files.ts'
import { readResults, type TopicResults, writeResults } from './report/results.ts'
import { findingsOf, type Topic } from './report/topic.ts'
import { QUESTIONS, TOPICS, topicsOf } from './topics/all-topics.ts'

const SECONDS = 3
/** Seconds that a run takes beside its length, for topics without results. */
const RUN_SECONDS = 8

const positive = (text: string): number => {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a whole number of at least 1.')
  return number
}

interface Options {
  rounds: number
  seconds?: number
  variant?: string[]
  dryRun?: boolean
  render?: boolean
  plan?: boolean
}

program
  .name('npm run bench --')
  .description(
    'Runs benchmarks and writes bench/results/NAME.json, bench/README.md with its charts, and the figures in README.md and docs/.',
  )
  .addArgument(
    new Argument('[names...]', 'topics to measure; the results of all others are kept (default: all topics)').choices(
      TOPICS.map(({ name }) => name),
    ),
  )
  .option('--rounds <number>', 'how often to measure each variant', positive, 5)
  .option('--seconds <number>', "length of each run, without its warm-up (default: the topic's)", positive)
  .option('--variant <text...>', 'measure only variants whose name contains one of these; implies --dry-run')
  .option('--dry-run', 'print the results without writing them')
  .option('--plan', 'measure nothing; print how long each topic takes, by its earlier results')
  .option('--render', 'measure nothing; only render the report from the existing results')
  .addHelpText(
    'after',
    `\nTopics. Indented topics run together with the topic above them, or alone:\n${list()}\n` +
      '\nEnvironment:\n  MYSQL_URL  the MySQL or MariaDB server to use: mysql://USER:PASSWORD@HOST:PORT\n' +
      '  VITESS_URL the vtgate to use, for the topic about it: the MySQL port, with one unsharded keyspace that is free',
  )
  .parse()

function list(): string {
  const lines = QUESTIONS.flatMap((question) =>
    question.map(({ name, title }, i) => `${i === 0 ? `  ${name}` : `    ${name}`}`.padEnd(24) + title),
  )
  return lines.join('\n')
}

const {
  rounds,
  seconds,
  variant: wanted,
  dryRun = wanted !== undefined,
  render = false,
  plan = false,
} = program.opts<Options>()
const names = program.processedArgs[0] as string[]
if (MISSING_PACKAGES !== null && (render || !dryRun)) program.error(MISSING_PACKAGES)
const say = (line: string) => console.log(line)

const interrupt = new AbortController()
function stop(why: string): void {
  if (!interrupt.signal.aborted) say(`${why}: stopping …`)
  interrupt.abort()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
// The npm script stops this process when its parent dies (stop-with-parent.ts). If that program itself was killed, this check does.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop('The parent process has exited')
  }, 1_000).unref()
}

const roundsOf = ({ mostRounds = rounds }: Topic) => Math.min(rounds, mostRounds)

/** Prints how long each topic takes: as long for a run as in its earlier results. */
async function sayPlan(topics: readonly Topic[]): Promise<void> {
  const results = await readResults()
  let total = 0
  for (const topic of topics) {
    const { tookSeconds, extent, runs = [] } = results[topic.name] ?? {}
    const lengths = seconds ?? topic.seconds ?? SECONDS
    const ofRun = (tookSeconds ?? 0) / runs.length
    const each = Number.isFinite(ofRun) && extent?.seconds === lengths ? ofRun : lengths + RUN_SECONDS
    const took =
      runs.length === 0 && tookSeconds !== undefined ? tookSeconds : each * topic.variants.length * roundsOf(topic)
    total += took
    say(`${topic.name.padEnd(20)}${String(Math.round(took)).padStart(6)} s`)
  }
  say(`${'all'.padEnd(20)}${String(Math.round(total / 60)).padStart(6)} minutes`)
}

/** The variants of a topic that are wanted and can be measured here, and why others are skipped. */
function select(testbed: Testbed, topic: Topic): { variants: Variant[]; skipped: string[] } {
  const chosen = topic.variants.filter(
    ({ name, title = name }) => wanted?.some((text) => name.includes(text) || title.includes(text)) ?? true,
  )
  const why = ({ needs = [] }: Pick<Variant, 'needs'>) =>
    needs.map((need) => testbed.missing(need)).find((text) => text !== null)
  const skipped = new Set([...chosen, topic].map(why).filter((text) => text !== undefined))
  return { variants: chosen.filter((variant) => why(variant) === undefined), skipped: [...skipped] }
}

/**
 * Measures topic by topic.
 *
 * @param done called with the results of each topic
 * @returns number of runs that failed
 */
async function measure(
  topics: readonly Topic[],
  done: (topic: Topic, results: TopicResults) => Promise<void>,
): Promise<number> {
  await installWrk(say)
  const testbed = new Testbed({ signal: interrupt.signal, say })
  let failed = 0
  try {
    const needs = topics.flatMap((topic) => [topic, ...topic.variants].flatMap((some) => some.needs ?? []))
    await testbed.start(process.env.MYSQL_URL, new Set(needs))
    const began = Date.now()
    const plans = topics.map((topic) => ({ topic, ...select(testbed, topic) }))
    const total = plans.reduce((sum, { topic, variants }) => sum + variants.length * roundsOf(topic), 0)
    let finished = 0
    say(`Measuring on ${testbed.servers.map(({ description }) => description).join(' and ')}: ${total} runs.`)
    for (const { topic, variants, skipped } of plans) {
      if (variants.length === 0 && skipped.length > 0) {
        say(`${topic.name}: not measured, its earlier results stay. ${skipped.join(' ')}`)
        continue
      }
      for (const why of skipped) say(`${topic.name}: skipped some variants. ${why}`)
      const environment = await observeEnvironment(testbed)
      const topicBegan = Date.now()
      const extent = { rounds: roundsOf(topic), seconds: seconds ?? topic.seconds ?? SECONDS }
      const { runs, repeats } = await runRounds(testbed, topic, variants, extent, (line, more) => {
        finished += more
        const left = Math.round((((Date.now() - began) / Math.max(finished, 1)) * (total - finished)) / 1_000)
        say(more > 0 ? `${line} [${finished} of ${total}, ${left} s left]` : line)
      })
      const runOnce = wanted === undefined && topic.once !== undefined
      if (runOnce) say(`${topic.name}: measuring outside the rounds …`)
      const tables = runOnce ? await topic.once!(testbed, extent.seconds, rounds) : []
      const tookSeconds = Math.round((Date.now() - topicBegan) / 1_000) - repeats.seconds
      const left = skipped.length > 0 && { skipped }
      const results = { environment: await environment(), extent, tookSeconds, repeats, ...left, tables, runs }
      interrupt.signal.throwIfAborted()
      summarize(topic, results)
      failed += runs.filter(({ violations }) => violations.length > 0).length
      await done(topic, results)
    }
    return failed
  } finally {
    await testbed.stop()
  }
}

/** Prints a topic's comparisons, findings and tables. */
function summarize(topic: Topic, results: TopicResults): void {
  const { runs, tables } = results
  say(`\n${topic.title}`)
  for (const comparison of topic.comparisons) {
    const { median, met } = judge(comparison, runs)
    const target = met === null ? '' : ` (${formatTarget(comparison)}: ${met ? 'met' : 'NOT met'})`
    say(`  ${comparison.label}: ${formatValue(comparison, median)}${target}`)
  }
  for (const sentence of findingsOf(topic, results)) say(`  ${sentence}`)
  for (const { title, headings, rows } of [...(topic.derived?.(results) ?? []), ...tables]) {
    say(`  ${title}: ${headings.join(' | ')}`)
    for (const row of rows.slice(0, 40)) say(`    ${row.join(' | ')}`)
  }
  say('')
}

try {
  if (plan) await sayPlan(topicsOf(names))
  else if (render) await writeRenderedFiles(QUESTIONS, await readResults())
  else {
    const failed = await measure(topicsOf(names), async (topic, results) => {
      if (dryRun) return
      await writeResults(topic.name, results)
      await writeRenderedFiles(QUESTIONS, await readResults())
      say(`Wrote bench/results/${topic.name}.json and the report.\n`)
    })
    if (failed > 0) {
      say(`\n${failed} runs FAILED: see above.`)
      process.exitCode = 1
    }
  }
} catch (error) {
  process.exitCode = interrupt.signal.aborted ? 130 : 1
  if (interrupt.signal.aborted) say('Interrupted: no process is left running, and no result was half-written.')
  else console.error(error instanceof Error ? error.message : String(error))
}
