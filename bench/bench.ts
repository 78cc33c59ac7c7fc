// `npm run bench`: measures, writes what was measured, and renders README.md from it.
import { join } from 'node:path'
import { InvalidArgumentError, Option, program } from 'commander'
import { formatTarget, formatValue, judge } from './comparison.ts'
import { hotKey } from './hot-key.ts'
import { idle } from './idle.ts'
import { latency } from './latency.ts'
import { observeMachine } from './machine.ts'
import { manyKeys } from './many-keys.ts'
import { profile } from './profile.ts'
import { renderReport } from './report.ts'
import { type Results, readResults, writeResults, writeWhole } from './results.ts'
import { Rig } from './rig.ts'
import { type Extent, runTopic } from './rounds.ts'
import type { Topic } from './topic.ts'
import { wrkVersion } from './wrk.ts'

const TOPICS: Topic[] = [hotKey, latency, manyKeys, idle, profile]

const positive = (text: string): number => {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return number
}

interface Options extends Extent {
  only?: string[]
  dryRun?: boolean
  render?: boolean
}

program
  .name('npm run bench --')
  .description('Measures the write path, and writes bench/results/write-path.json and bench/README.md.')
  .addOption(
    new Option('--only <topic...>', 'measure these; what is known of the others stays').choices(
      TOPICS.map(({ name }) => name),
    ),
  )
  .option('--rounds <number>', 'times that each variant is measured', positive, 5)
  .option('--seconds <number>', 'length of each run, without its warm-up', positive, 3)
  .option('--dry-run', 'print what was measured, and write nothing')
  .option('--render', 'write bench/README.md anew from the results there are, and measure nothing')
  .addHelpText(
    'after',
    '\nEnvironment:\n  MYSQL_URL  the MySQL or MariaDB server to use: mysql://USER:PASSWORD@HOST:PORT',
  )
  .parse()

const { only, rounds, seconds, dryRun = false, render = false } = program.opts<Options>()
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

async function measure(topics: readonly Topic[]): Promise<Results> {
  await wrkVersion()
  const results: Results = {}
  const rig = new Rig({ signal: interrupt.signal, say })
  try {
    await rig.start(process.env.MYSQL_URL)
    const began = Date.now()
    const all = topics.reduce((sum, { variants }) => sum + variants.length * rounds, 0)
    let done = 0
    say(`Measuring on ${rig.database}: ${all} runs.`)
    for (const topic of topics) {
      const environment = await observeMachine(rig)
      const outcome = await runTopic(rig, topic, { rounds, seconds }, (line, finished) => {
        done += finished
        const left = Math.round((((Date.now() - began) / Math.max(done, 1)) * (all - done)) / 1_000)
        say(finished > 0 ? `${line} [${done} of ${all}, ${left} s left]` : line)
      })
      results[topic.name] = { environment: environment(), extent: { rounds, seconds }, ...outcome }
    }
    return results
  } finally {
    await rig.stop()
  }
}

/** The verdicts, at the end of the output. */
function summarize(topics: readonly Topic[], results: Results): void {
  for (const topic of topics) {
    const { runs, tables } = results[topic.name]!
    say(`\n${topic.title}`)
    for (const comparison of topic.comparisons) {
      const { median, met } = judge(comparison, runs)
      const target = met === null ? '' : ` (${formatTarget(comparison)}: ${met ? 'met' : 'NOT met'})`
      say(`  ${comparison.says}: ${formatValue(comparison, median)}${target}`)
    }
    for (const { title, rows } of tables) {
      say(`  ${title}`)
      for (const [first, ...rest] of rows.slice(0, 15))
        say(`    ${rest.at(-1)!.padStart(7)}  ${first}  ${rest.slice(0, -1).join(' ')}`)
    }
  }
}

async function write(results: Results): Promise<void> {
  await writeWhole(join(import.meta.dirname, 'README.md'), renderReport(TOPICS, results))
}

try {
  if (render) await write(await readResults())
  else {
    const topics = TOPICS.filter(({ name }) => only === undefined || only.includes(name))
    const results = await measure(topics)
    summarize(topics, results)
    if (!dryRun) {
      const everything = { ...(await readResults()), ...results }
      await writeResults(everything)
      await write(everything)
      say('\nWrote bench/results/write-path.json and bench/README.md.')
    }
    const failed = Object.values(results).flatMap(({ runs }) => runs.filter(({ violations }) => violations.length > 0))
    if (failed.length > 0) {
      say(`\n${failed.length} runs FAILED: see above.`)
      process.exitCode = 1
    }
  }
} catch (error) {
  process.exitCode = interrupt.signal.aborted ? 130 : 1
  if (interrupt.signal.aborted) say('Interrupted: nothing is left running, and nothing was written.')
  else console.error(error instanceof Error ? error.message : String(error))
}
