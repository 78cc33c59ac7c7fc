// Grows a database from one shard to four on a real Vitess cluster while a Worker counts. docs/sharding.md has the result.
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { program } from 'commander'
import { interruption } from '../../cli/interruption.ts'
import { findProgram } from '../../local/database/database-program.ts'
import { freePort } from '../../local/processes/free-port.ts'
import { isInstalled } from '../../local/processes/install-system-packages.ts'
import { PROJECT } from '../../local/project-root.ts'
import { buildWorker } from '../../local/worker/build-worker.ts'
import { startWorkerd, type Workerd } from '../../local/worker/workerd.ts'
import { TOKEN } from '../harness/deployment.ts'
import { EndpointProcess } from '../harness/endpoint-process.ts'
import { Cluster, type Tablet } from './cluster.ts'
import { type Part, SteadyLoad } from './steady-load.ts'
import { type Shards, Workflow } from './workflow.ts'

/** The tables in migrations/vschema.json are all there are. */
const VSCHEMA = JSON.parse(await readFile(join(PROJECT, 'migrations/vschema.json'), 'utf8')) as { tables: object }
/** Vitess then finds each table by the VSchemas, as it does for PlanetScale's HTTP driver, which names no keyspace either. */
const NO_KEYSPACE = '@primary'
const SETTINGS = {
  SHARDING: { ranges: 8 },
  PLAN: 'paid',
}
program
  .name('node bench/growing/grow.ts')
  .description(
    'Starts a Vitess cluster on this machine and counts steadily through a Worker. Meanwhile, fails over a primary, and goes ' +
      'from one shard to two and to four. Then compares every counter with what was acknowledged. Takes about ten minutes.',
  )
  .requiredOption('--vitess <folder>', 'folder with vtctld, vtctldclient, vtgate and vttablet', process.env.VITESS_BIN)
  .option('--etcd <program>', 'the program etcd', 'etcd')
  .option('--seconds <number>', 'how long to count after each step', Number, 30)
  .option('--move', 'move the tables into new keyspaces, as on PlanetScale, instead of splitting shards in place')
  .option('--no-buffer', 'vtgate does not hold writes back while their shard has no primary')
  .option('--keep', 'keep the data and the logs')
  .addHelpText('after', '\nNeeds MySQL and etcd. Environment:\n  VITESS_BIN  default of --vitess')
  .parse()

interface Options {
  vitess: string
  etcd: string
  seconds: number
  move?: boolean
  buffer: boolean
  keep?: boolean
}

const { vitess, etcd, seconds, move, buffer, keep } = program.opts<Options>()
const began = performance.now()
const interrupted = interruption()
const { signal } = interrupted

function say(line: string): void {
  console.log(`${String(Math.round((performance.now() - began) / 1_000)).padStart(4)} s  ${line}`)
}

/** A step, and when it began, was done, and was followed by the next. */
interface Step {
  name: string
  began: number
  done: number
  over: number
}

const steps: Step[] = []
/** The first thing that went wrong with the load. */
let failure: unknown

/** Runs a step, then counts for a while. */
async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now()
  await work()
  const done = performance.now()
  await pause(seconds * 1_000, undefined, { signal })
  if (failure !== undefined) throw failure
  const over = performance.now()
  steps.push({ name, began, done, over })
  say(describe(steps.at(-1)!))
}

function describe({ name, began, done, over }: Step): string {
  const { longestGapMs, refused, unknown } = load!.part(began, over)
  const without = `${secondsOf(longestGapMs)} without an acknowledged hit`
  return `${name}: took ${secondsOf(done - began)}; ${without}; ${refused} hits refused, ${unknown} unknown`
}

const secondsOf = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`

/** The result. The longest time without an acknowledged hit is that of the worst quarter of the counters. */
function table(): string {
  const row = (name: string, took: number, part: Part) => {
    const times = [took, part.longestGapMs, part.slowestMs].map(secondsOf)
    return `| ${[name, ...times, part.acknowledged, part.refused, part.unknown, part.repeated].join(' | ')} |`
  }
  return [
    '| step | took | without an acknowledged hit | slowest | hits acknowledged | refused | unknown | batches sent again |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...steps.map(({ name, began, done, over }) => row(name, done - began, load!.part(began, over))),
    row('all', steps.at(-1)!.over - steps[0]!.began, load!.part(steps[0]!.began, Number.POSITIVE_INFINITY)),
  ].join('\n')
}

/** Fails a shard over to another tablet. */
async function failOver({ keyspace }: Shards, shard: string, { alias }: Tablet): Promise<void> {
  await cluster.vtctl('PlannedReparentShard', `--new-primary=${alias}`, `${keyspace}/${shard}`)
}

/** Starts empty shards, the first with a replica if wanted. */
async function startShards(keyspace: string, names: readonly string[], replica: boolean): Promise<Shards> {
  const tablets = new Map<string, Tablet[]>()
  for (const [i, name] of names.entries()) {
    const started: Tablet[] = []
    for (let left = replica && i === 0 ? 2 : 1; left > 0; left--) {
      started.push(await cluster.startTablet(keyspace, name))
    }
    tablets.set(name, started)
    await failOver({ keyspace, tablets }, name, started[0]!)
  }
  return { keyspace, tablets }
}

async function createKeyspace(keyspace: string, vschema: object): Promise<void> {
  await cluster.vtctl('CreateKeyspace', '--durability-policy=none', keyspace)
  await applyVSchema(keyspace, vschema)
}

async function applyVSchema(keyspace: string, vschema: object): Promise<void> {
  await cluster.vtctl('ApplyVSchema', `--vschema=${JSON.stringify(vschema)}`, keyspace)
}

/** Brings the tables into more shards while counting goes on, and stops the tablets of the old ones. */
async function grow(from: Shards, names: readonly string[], replica: boolean): Promise<Shards> {
  const keyspace = move ? `counters${names.length}` : from.keyspace
  // Until the tables are moved, both keyspaces have them.
  if (move) await createKeyspace(keyspace, { ...VSCHEMA, require_explicit_routing: true })
  const to = await startShards(keyspace, names, replica)
  const workflow = new Workflow(cluster, from, to, signal)
  const { command } = workflow
  const into = `into ${names.length} shards`
  await step(`\`${command} create\` ${into}, until all is copied`, () => workflow.copy())
  await step('`VDiff`', async () => say(`VDiff found no difference in ${await workflow.compare()} rows.`))
  await step(`\`${command} switchtraffic\` ${into}`, () => workflow.switchTraffic())
  await step(`\`${command} complete\`, old shards removed`, async () => {
    if (move) await applyVSchema(keyspace, VSCHEMA)
    await workflow.complete()
    for (const tablet of [...from.tablets.values()].flat()) await cluster.stopTablet(tablet)
    // `Reshard complete` has removed the old shards already.
    if (move) await cluster.vtctl('DeleteKeyspace', '--recursive', from.keyspace)
  })
  return to
}

/** Runs one of the project's commands. */
async function command(script: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const options = { cwd: PROJECT, signal, env: { ...process.env, ...env } }
  return (await promisify(execFile)(process.execPath, [join(PROJECT, script), ...args], options)).stdout.trim()
}

const mysql = await findProgram('mysql')
if (mysql?.product !== 'mysql') program.error('MySQL is not installed.')
if (!(await isInstalled(join(vitess, 'vtgate')))) program.error(`There is no vtgate in ${vitess}.`)
if (!(await isInstalled(etcd))) program.error('etcd is not installed.')
const version = async (path: string) =>
  (await promisify(execFile)(path, ['--version'])).stdout.match(/(?<=[Vv]ersion:? )[\d.]+/)?.[0]
say(`Vitess ${await version(join(vitess, 'vtgate'))}, MySQL ${mysql.version}, etcd ${await version(etcd)}`)

const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-growing-'))
// Vitess does not run as root, and then has another user than this process.
await chmod(directory, 0o755)
const cluster = new Cluster({ vitess, mysql, etcd, directory, signal })
let endpoint: EndpointProcess | undefined
let workerd: Workerd | undefined
let load: SteadyLoad | undefined
try {
  await cluster.start()
  const unsharded = { tables: Object.fromEntries(Object.keys(VSCHEMA.tables).map((table) => [table, {}])) }
  await createKeyspace('counters', move ? unsharded : VSCHEMA)
  const one = await startShards('counters', ['0'], true)
  const vtgate = await cluster.startVtgate(buffer)
  await command('cli/migrate/migrate.ts', [], { DATABASE_URL: `${vtgate}/counters` })
  say('The cluster runs with one shard.')

  const port = await freePort()
  endpoint = await EndpointProcess.start(port, vtgate)
  workerd = await startWorkerd({
    script: await buildWorker(join(directory, 'worker')),
    directory: join(directory, 'workerd'),
    databaseUrl: EndpointProcess.urlOf(encodeURIComponent(NO_KEYSPACE), port),
    apiToken: TOKEN,
    settings: SETTINGS,
  })
  load = new SteadyLoad(workerd.url, signal)
  await load.fill()
  await load.start((error) => {
    failure ??= error
  })
  await step('counting alone', async () => {})
  await step('`PlannedReparentShard` of the only shard', () => failOver(one, '0', one.tablets.get('0')![1]!))
  const two = await grow(one, ['-80', '80-'], false)
  const four = await grow(two, ['-40', '40-80', '80-c0', 'c0-'], true)
  await step('`PlannedReparentShard` of one of four shards', () => failOver(four, '-40', four.tablets.get('-40')![1]!))

  await load.stop()
  if (failure !== undefined) throw failure
  const { counters, acknowledged, unknown, wrong } = await load.check()
  say(
    `${load.readings} readings and ${load.rollUps} roll-ups; ${load.failedReadings} and ${load.failedRollUps} failed.`,
  )
  say(
    `${counters} counters: ${acknowledged} increments acknowledged, ${unknown} unknown, ${wrong.length} counts read wrong.`,
  )
  for (const { key, count, least, most } of wrong.slice(0, 10))
    say(`  ${key} is ${count}, not from ${least} to ${most}`)
  console.log(`\n${table()}\n`)
  say(await command('cli/verify/verify.ts', [`--url=${workerd.url}`, `--token=${TOKEN}`], {}))
  if (wrong.length > 0) process.exitCode = 1
} catch (error) {
  say(signal.aborted ? 'Interrupted.' : `Failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = signal.aborted ? 130 : 1
} finally {
  interrupted.abort()
  await Promise.allSettled([workerd?.stop(), load?.stop(), endpoint?.stop()])
  await cluster.stop()
  if (keep) say(`The data and the logs are in ${directory}.`)
  else await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
