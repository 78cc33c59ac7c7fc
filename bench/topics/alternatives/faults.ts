import { setTimeout } from 'node:timers/promises'
import { type Deployment, withDeployment } from '../../harness/deployment.ts'
import { KillableDatabase } from '../../harness/killable-database.ts'
import { runRetryingClients } from '../../harness/retrying-clients.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Run, Variant } from '../../harness/variant.ts'
import { HOT_KEY } from '../../harness/wrk-load-keys.ts'
import { medianOf } from '../../report/medians.ts'
import type { Table } from '../../report/results.ts'
import type { Topic } from '../../report/topic.ts'
import {
  type Candidate,
  EVENTS,
  headersOf,
  MEMORY,
  OBJECT,
  PRODUCT,
  PRODUCT_WITH_KEY,
  REDIS,
  ROW,
} from './candidates.ts'

const CLIENTS = 16
const BODY = JSON.stringify({ type: 'page_view', key: HOT_KEY })
/** Every n-th response to a statement or command that writes is cut off. */
const CUT_EVERY = 20
/** For group commit, which sends far fewer statements. */
const CUT_EVERY_GROUP = 4
const CUTS = 200

type Fault = 'Worker killed' | 'answers cut' | 'database killed'

/** Each fault, and the candidates that it can affect. */
const FAULTS: Record<Fault, { title: string; candidates: Candidate[] }> = {
  'Worker killed': {
    title: 'Worker killed',
    candidates: [PRODUCT, PRODUCT_WITH_KEY, ROW, OBJECT, REDIS, MEMORY, EVENTS],
  },
  'answers cut': {
    title: 'Responses lost',
    candidates: [PRODUCT, PRODUCT_WITH_KEY, ROW, OBJECT, REDIS, MEMORY, EVENTS],
  },
  'database killed': {
    title: 'Database killed',
    candidates: [PRODUCT, PRODUCT_WITH_KEY, ROW, REDIS, MEMORY, EVENTS],
  },
}

const named = (candidate: Candidate, fault: string) => `${candidate.name}: ${fault}`

const variants: Variant[] = (Object.keys(FAULTS) as Fault[]).flatMap((fault) =>
  FAULTS[fault].candidates.map((candidate) => ({
    name: named(candidate, fault),
    title: candidate.name,
    about: candidate.about,
    needs: candidate.redis === undefined ? [] : (['redis'] as const),
    measure: (testbed: Testbed, _: number, seconds: number) => measure(testbed, candidate, fault, seconds),
  })),
)

async function measure(testbed: Testbed, candidate: Candidate, fault: Fault, seconds: number): Promise<Outcome> {
  // Only a private server may be killed.
  const own =
    fault === 'database killed' && candidate.redis === undefined ? await KillableDatabase.start(testbed) : null
  try {
    const { worker, redis, durableObjects } = candidate
    const options = { worker, ...(redis && { redis }), ...(durableObjects && { durableObjects }) }
    const server = own?.server ?? testbed.server()
    return await withDeployment(testbed, { ...options, server }, (deployment) =>
      countDuringFault(testbed, deployment, candidate, fault, seconds, own),
    )
  } finally {
    await own?.stop()
  }
}

async function countDuringFault(
  testbed: Testbed,
  deployment: Deployment,
  candidate: Candidate,
  fault: Fault,
  seconds: number,
  own: KillableDatabase | null,
): Promise<Outcome> {
  let over = false
  const half = () => setTimeout((seconds * 1_000) / 2, undefined, { signal: testbed.signal })
  if (fault === 'answers cut') await cutResponses(deployment, candidate)
  const clients = runRetryingClients({
    // The connection to an object is inside workerd, so the Worker itself drops the response.
    url: deployment.url + candidate.path + (fault === 'answers cut' && candidate === OBJECT ? `?cut=${CUT_EVERY}` : ''),
    body: candidate.idempotent ? '{"by":1}' : BODY,
    number: CLIENTS,
    headersOf: (hit) => headersOf(candidate, hit),
    over: () => over,
    signal: testbed.signal,
  })
  const background = candidate.background?.(deployment, () => over)
  // Failures surface at the awaits below.
  clients.catch(() => {})
  background?.catch(() => {})
  try {
    await half()
    if (fault === 'Worker killed') await deployment.killAndRestart()
    if (fault === 'database killed') await (own ?? deployment.redis!).killAndRestart()
    await half()
  } finally {
    over = true
  }
  const { acknowledged, unacknowledged } = await clients
  await background
  const counted = await deployment.settle(() => candidate.count(deployment, 1))
  await deployment.behave({ faults: [] })
  const lost = Math.max(0, acknowledged - counted)
  const doubled = Math.max(0, counted - acknowledged - unacknowledged)
  const violations: string[] = []
  if (acknowledged === 0) violations.push('no hit was acknowledged')
  if (candidate === PRODUCT && lost > 0) violations.push(`${lost} acknowledged hits were lost`)
  if (candidate === PRODUCT_WITH_KEY && lost + doubled > 0)
    violations.push(`${lost} hits were lost, ${doubled} were counted twice`)
  return { figures: { told: acknowledged, untold: unacknowledged, counted, lost, doubled }, violations }
}

async function cutResponses(deployment: Deployment, candidate: Candidate): Promise<void> {
  if (candidate === OBJECT) return
  if (deployment.redis !== null) return deployment.redis.cutResponses(CUT_EVERY)
  // Each fault skips statements until it is due. The counter in memory writes once, at the end.
  const every = candidate === MEMORY ? 0 : candidate === PRODUCT ? CUT_EVERY_GROUP : CUT_EVERY
  const faults = Array.from({ length: candidate === MEMORY ? 1 : CUTS }, (_, turn) => {
    return { action: 'cut-answer' as const, match: 'INSERT', skip: every * (turn + 1) }
  })
  await deployment.behave({ faults })
}

/** The hits that a candidate lost or counted twice during a fault, in all rounds together. */
export function errorsOf(runs: readonly Run[], candidate: Candidate, fault: Fault): string {
  if (!FAULTS[fault].candidates.includes(candidate)) return 'not applicable'
  const figures = runs.filter(({ variant }) => variant === named(candidate, fault)).map(({ figures }) => figures)
  if (figures.length === 0) return '–'
  const all = (figure: 'told' | 'lost' | 'doubled') => figures.reduce((sum, run) => sum + (run[figure] ?? 0), 0)
  const [told, lost, doubled] = [all('told'), all('lost'), all('doubled')].map((sum) => sum.toLocaleString('en-US'))
  const wrong = [
    ...(lost === '0' ? [] : [`**${lost} lost**`]),
    ...(doubled === '0' ? [] : [`${doubled} counted twice`]),
  ]
  return `${wrong.length === 0 ? 'exact' : wrong.join(', ')} of ${told}`
}

function tableOfErrors(runs: readonly Run[]): Table {
  const faults = Object.keys(FAULTS) as Fault[]
  return {
    title: 'Hits lost or counted twice',
    text: 'Each figure is out of the acknowledged hits of all rounds.',
    headings: ['', ...faults.map((fault) => FAULTS[fault].title)],
    // All candidates can be affected by this one.
    rows: FAULTS['Worker killed'].candidates.map((candidate) => [
      candidate.name,
      ...faults.map((fault) => errorsOf(runs, candidate, fault)),
    ]),
  }
}

/** Hits that are lost or counted twice when something fails. */
export const faults: Topic = {
  name: 'faults',
  title: 'Which hits are lost or counted twice when something fails?',
  text:
    `${CLIENTS} clients count one key and retry every hit until it is acknowledged. Halfway through, workerd or the database server is killed (SIGKILL) and restarted, or responses are cut off after ` +
    `the commit: those of one in ${CUT_EVERY} writing statements, or of one in ${CUT_EVERY_GROUP} with group commit, which sends fewer. ` +
    'These clients also retry after `X-Hit: unknown`.',
  seconds: 1,
  variants,
  columns: ['told', 'untold', 'counted', 'lost', 'doubled'],
  comparisons: [],
  findings({ runs }) {
    const typical = (candidate: Candidate, fault: Fault, figure: 'lost' | 'doubled') =>
      medianOf(runs, named(candidate, fault), figure)
    const withKey = runs.filter(({ variant }) =>
      Object.keys(FAULTS).some((fault) => variant === named(PRODUCT_WITH_KEY, fault)),
    )
    const wrong = withKey.reduce((sum, { figures }) => sum + (figures.lost ?? 0) + (figures.doubled ?? 0), 0)
    return [
      `Send an \`Idempotency-Key\` where counts must be exact: in ${withKey.length} runs, ${wrong} hits were lost or counted twice.`,
      `Without a key, group commit loses nothing either. If its Worker is killed, at most the hits in flight count twice (median: ${typical(PRODUCT, 'Worker killed', 'doubled')} of ${CLIENTS}).`,
      `Counting in memory lost ${typical(MEMORY, 'Worker killed', 'lost').toLocaleString('en-US')} acknowledged hits (median) when the Worker was killed. After lost responses, one row counted ` +
        `${typical(ROW, 'answers cut', 'doubled')} hits twice and Redis ${typical(REDIS, 'answers cut', 'doubled')}, because neither recognizes a retry.`,
    ]
  },
  derived: ({ runs }) => [tableOfErrors(runs)],
}
