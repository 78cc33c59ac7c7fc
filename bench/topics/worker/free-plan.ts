import { freePort } from '../../../local/processes/free-port.ts'
import { cpuProfile, SAMPLE_MICROS } from '../../harness/cpu-profile.ts'
import { type Deployment, TOKEN, withDeployment } from '../../harness/deployment.ts'
import { fillSlots } from '../../harness/fill-slots.ts'
import { Inspector } from '../../harness/inspector.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { medianOf } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { fillHistory, KEY } from './long-history.ts'

/** Runs that are not measured, and those that are. */
const WARM_UPS = 10
const RUNS = 20
/** The plan's limit. */
export const LIMIT_MS = 10

/** What a roll-up of the free plan can move, and what pruning can delete two minutes later. */
const SLOTS = 800
const OLD_SLOTS = 2 * SLOTS
const ZONE = 'Europe/Berlin'
const DAY_MS = 86_400_000

/** What is run again and again. */
export interface Work {
  /** Brings the database into the state from before a run. */
  reset?: () => Promise<unknown>
  /** What is requested at the same time, by the number of the run. */
  paths: (run: number) => string[]
  headers?: Record<string, string>
  /** A sum that is 0 after a run that did its work. */
  left?: string
}

export type Prepare = (deployment: Deployment) => Promise<Work>

const cron = (expression: string) => () => [`/?${new URLSearchParams({ 'bench-cron': expression })}`]

/** Rolls up counters with one slot each: no other slots cost more. */
const rollUp: Prepare = async (deployment) => {
  const { server, database } = deployment
  const slots = `\`${database}\`.slotted_counters`
  await fillSlots(deployment, { counters: SLOTS, slotsEach: 1, count: 0 })
  return {
    reset: () => server.query(`UPDATE ${slots} SET count = 1`),
    paths: cron('* * * * *'),
    left: `SELECT SUM(count) AS number FROM ${slots}`,
  }
}

const prune: Prepare = async (deployment) => {
  const { server, database } = deployment
  const slots = `\`${database}\`.slotted_counters`
  const insert = (table: string, rest: string) =>
    server.query(
      `INSERT IGNORE INTO \`${database}\`.${table} SELECT record_type, record_id, bucket, ${rest} FROM ${slots}`,
    )
  return {
    async reset() {
      await fillSlots(deployment, { counters: OLD_SLOTS, slotsEach: 1, count: 0 })
      await server.query(`UPDATE ${slots} SET kept_until = 1`)
      await insert('counter_history', `'2026-01-01 05:00', 1`)
      await insert('counter_periods', `1, '2026-01-01', 1`)
    },
    paths: cron('*/2 * * * *'),
    left: `SELECT COUNT(*) AS number FROM ${slots}`,
  }
}

/** Requests of a browser that is signed in. */
const browser =
  (...paths: string[]): Prepare =>
  async (deployment) => {
    await fillHistory(deployment)
    const response = await fetch(`${deployment.url}/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: deployment.url },
      body: new URLSearchParams({ token: TOKEN, zone: ZONE }),
    })
    const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]!)
    return { paths: () => paths, headers: { Cookie: cookies.join('; ') } }
  }

const pageOf = (query: Record<string, string>) =>
  browser(
    `/${query.key === undefined ? '' : 'counter'}?${new URLSearchParams({ type: 'page_view', tz: ZONE, ...query })}`,
  )
const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
const custom = { period: 'custom', from: day(999), to: day(1) }
const [PAGE, STATUS] = ['/', '/v1/status']

const RUNS_OF_PLAN: Record<string, [about: string, prepare: Prepare]> = {
  'roll-up': [`${SLOTS} slots of ${SLOTS} counters`, rollUp],
  pruning: [`${OLD_SLOTS} slots, and old hours`, prune],
  'first page': ['with a row for each type', browser(PAGE)],
  'its refresh': ['as the page’s script requests it', browser(`${PAGE}?tz=${encodeURIComponent(ZONE)}`)],
  status: ['which a monitor requests', browser(STATUS)],
  'first page and status': ['at the same time', browser(PAGE, STATUS)],
  '30 days': ['page of a type, and its refresh', pageOf({})],
  '12 months': ['page of a type', pageOf({ period: '12m' })],
  'all time': ['page of a type', pageOf({ period: 'all' })],
  '999 days': ['page of a type', pageOf(custom)],
  'all time, counter': ['page of a counter', pageOf({ key: KEY, period: 'all' })],
  '999 days, counter': ['page of a counter', pageOf({ key: KEY, ...custom })],
}

async function run({ url }: Deployment, paths: string[], { headers = {} }: Work, signal: AbortSignal): Promise<void> {
  const request = async (path: string) => {
    const response = await fetch(url + path, { headers, signal })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  }
  await Promise.all(paths.map(request))
}

/** Measures the processor time of a run, in a deployment of its own. */
export async function measureCpu(testbed: Testbed, prepare: Prepare, settings = {}): Promise<Outcome> {
  const inspectorPort = await freePort()
  return withDeployment(testbed, { worker: 'crons', inspectorPort, settings }, async (deployment) => {
    const work = await prepare(deployment)
    const inspector = await Inspector.open(inspectorPort)
    const sent = await deployment.statements()
    const micros = { javaScript: 0, native: 0 }
    try {
      for (let made = 0; made < WARM_UPS + RUNS; made++) {
        await work.reset?.()
        const { nodes, samples, timeDeltas } = await cpuProfile(inspector, () =>
          run(deployment, work.paths(made), work, testbed.signal),
        )
        const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]))
        for (const [i, id] of samples.entries()) {
          const name = names.get(id)
          if (made < WARM_UPS || name === '(idle)') continue
          // Between two runs of JavaScript, there are no samples.
          micros[name === '(program)' ? 'native' : 'javaScript'] += Math.min(timeDeltas[i]!, 2 * SAMPLE_MICROS)
        }
      }
    } finally {
      inspector.close()
    }
    const statements = ((await deployment.statements()) - sent) / (WARM_UPS + RUNS)
    const [row] = work.left === undefined ? [] : await deployment.server.query(work.left)
    return {
      figures: { cpuMs: micros.javaScript / RUNS / 1_000, nativeMs: micros.native / RUNS / 1_000, statements },
      violations: Number(row?.number ?? 0) === 0 ? [] : [`a run left ${row?.number} slots`],
    }
  })
}

const variants = Object.entries(RUNS_OF_PLAN).map(
  ([name, [about, prepare]]): Variant => ({ name, about, measure: (testbed) => measureCpu(testbed, prepare) }),
)

/** The processor time of what the free plan runs. */
export const freePlan: Topic = {
  name: 'free-plan',
  title: 'Does the work fit into the free plan’s CPU time?',
  text:
    'The target is what the plan allows a request or a cron run. The table has milliseconds of JavaScript, garbage collection and compiling, from V8’s profiler: the mean of ' +
    `${RUNS} runs after ${WARM_UPS} others in the same isolate. The type has 160 counters, 20 years of days and months, and 90 days of hours, in ${ZONE}.`,
  missed:
    'Pages of long periods decode and draw many rows ([notes](notes.md#the-free-plans-processor-time)). On the free plan, choose shorter periods. The machine matters: ' +
    'on another day, the same code took half the time for some of these. Cloudflare’s machines have not been measured.',
  mostRounds: 3,
  variants,
  columns: ['cpuMs', 'nativeMs', 'statements'],
  comparisons: variants.map(({ name, about }) => ({
    label: `${name} (${about})`,
    figure: 'cpuMs' as const,
    of: name,
    target: { atMost: LIMIT_MS },
  })),
  findings({ runs }) {
    const over = variants.filter(({ name }) => medianOf(runs, name, 'cpuMs') > LIMIT_MS)
    return [`On this machine, ${over.length} of ${variants.length} requests and runs take longer than the plan allows.`]
  },
}
