import { setTimeout } from 'node:timers/promises'
import { HOT_KEY } from '../harness/keys.ts'
import { KillableServer } from '../harness/killable-server.ts'
import { keepLedger } from '../harness/ledger.ts'
import type { Rig } from '../harness/rig.ts'
import { type Service, withService } from '../harness/service.ts'
import { median } from '../report/comparison.ts'
import type { Outcome, Run, Table, Topic, Variant } from '../topic.ts'
import {
  CUMULATIVE,
  EVENTS,
  headersOf,
  MEMORY,
  OBJECT,
  PRODUCT,
  PRODUCT_WITH_KEY,
  REDIS_ALWAYS,
  REDIS_EVERYSEC,
  ROW,
  type Way,
} from './ways.ts'

const CLIENTS = 16
const BODY = JSON.stringify({ type: 'page_view', key: HOT_KEY })
/** Of the statements or commands that write, every so many-th has its answer cut off. */
const CUT_EVERY = 20
/** Group commit sends far fewer. */
const CUT_EVERY_GROUP = 4
const CUTS = 200

type Fault = 'Worker killed' | 'answers cut' | 'database killed'

/** What happens, and what it can happen to. */
const FAULTS: Record<Fault, { about: string; ways: Way[] }> = {
  'Worker killed': {
    about: 'kill -9 of workerd in the middle, and a new one at once',
    ways: [PRODUCT, PRODUCT_WITH_KEY, ROW, OBJECT, REDIS_ALWAYS, MEMORY, EVENTS, CUMULATIVE],
  },
  'answers cut': {
    about: 'connections to database, Redis or object cut after the commit, before the answer',
    ways: [PRODUCT, PRODUCT_WITH_KEY, ROW, OBJECT, REDIS_ALWAYS, MEMORY, EVENTS, CUMULATIVE],
  },
  'database killed': {
    about: 'kill -9 of the database server in the middle, and started again on its data',
    ways: [PRODUCT, PRODUCT_WITH_KEY, ROW, REDIS_ALWAYS, REDIS_EVERYSEC, MEMORY, EVENTS, CUMULATIVE],
  },
}

const named = (way: Way, fault: string) => `${way.name}: ${fault}`

const variants: Variant[] = (Object.keys(FAULTS) as Fault[]).flatMap((fault) =>
  FAULTS[fault].ways.map((way) => ({
    name: named(way, fault),
    about: way.about,
    table: `${fault}: ${FAULTS[fault].about}`,
    needs: way.redis === undefined ? [] : (['redis'] as const),
    measure: (rig: Rig, _: number, seconds: number) => measure(rig, way, fault, seconds),
  })),
)

async function measure(rig: Rig, way: Way, fault: Fault, seconds: number): Promise<Outcome> {
  // Only a server that is nobody else's may be killed.
  const own = fault === 'database killed' && way.redis === undefined ? await KillableServer.start(rig) : null
  try {
    const { worker, redis, durableObjects } = way
    const options = { worker, ...(redis && { redis }), ...(durableObjects && { durableObjects }) }
    const server = own?.server ?? rig.server()
    return await withService(rig, { ...options, server }, (service) => suffer(rig, service, way, fault, seconds, own))
  } finally {
    await own?.stop()
  }
}

async function suffer(
  rig: Rig,
  service: Service,
  way: Way,
  fault: Fault,
  seconds: number,
  own: KillableServer | null,
): Promise<Outcome> {
  let over = false
  const half = () => setTimeout((seconds * 1_000) / 2, undefined, { signal: rig.signal })
  if (fault === 'answers cut') await cutAnswers(service, way)
  const clients = keepLedger({
    // The hop to an object is inside workerd: the Worker itself drops what comes back.
    url: service.url + way.path + (fault === 'answers cut' && way === OBJECT ? `?cut=${CUT_EVERY}` : ''),
    body: way.idempotent ? '{"by":1}' : BODY,
    number: CLIENTS,
    headersOf: (hit) => headersOf(way, hit),
    over: () => over,
    signal: rig.signal,
  })
  const beside = way.beside?.(service, () => over)
  // Whoever waits for them sees them fail.
  clients.catch(() => {})
  beside?.catch(() => {})
  try {
    await half()
    if (fault === 'Worker killed') await service.killAndRestart()
    if (fault === 'database killed') await (own ?? service.redis!).killAndRestart()
    await half()
  } finally {
    over = true
  }
  const { told, untold } = await clients
  await beside
  const counted = await service.settle(() => way.count(service, 1))
  await service.behave({ faults: [] })
  const lost = Math.max(0, told - counted)
  const doubled = Math.max(0, counted - told - untold)
  const violations: string[] = []
  if (told === 0) violations.push('no hit was acknowledged')
  if (way === PRODUCT && lost > 0) violations.push(`${lost} acknowledged hits are not there`)
  if (way === PRODUCT_WITH_KEY && lost + doubled > 0) violations.push(`${lost} hits are missing, ${doubled} too many`)
  return { figures: { told, untold, counted, lost, doubled }, violations }
}

async function cutAnswers(service: Service, way: Way): Promise<void> {
  if (way === OBJECT) return
  if (service.redis !== null) return service.redis.cutAnswers(CUT_EVERY)
  // Each is counted down by every statement until its turn has come. The counter in memory writes once, at the end.
  const every = way === MEMORY ? 0 : way === PRODUCT ? CUT_EVERY_GROUP : CUT_EVERY
  const faults = Array.from({ length: way === MEMORY ? 1 : CUTS }, (_, turn) => {
    return { action: 'cut-answer' as const, match: 'INSERT', skip: every * (turn + 1) }
  })
  await service.behave({ faults })
}

/** What each way lost and doubled, of all rounds together. */
function ledger(runs: readonly Run[]): Table {
  const faults = Object.keys(FAULTS) as Fault[]
  const ways = [...new Map(Object.values(FAULTS).flatMap(({ ways }) => ways.map((way) => [way.name, way]))).values()]
  const cell = (way: Way, fault: Fault) => {
    if (!FAULTS[fault].ways.includes(way)) return 'not applicable'
    const figures = runs.filter(({ variant }) => variant === named(way, fault)).map(({ figures }) => figures)
    if (figures.length === 0) return '–'
    const all = (figure: 'told' | 'lost' | 'doubled') => figures.reduce((sum, run) => sum + (run[figure] ?? 0), 0)
    const [told, lost, doubled] = [all('told'), all('lost'), all('doubled')].map((sum) => sum.toLocaleString('en-US'))
    const wrong = [...(lost === '0' ? [] : [`**${lost} lost**`]), ...(doubled === '0' ? [] : [`${doubled} doubled`])]
    return `${wrong.length === 0 ? 'exact' : wrong.join(', ')} of ${told}`
  }
  return {
    title: 'The ledger',
    text: 'Of all rounds together: acknowledged hits that are not there, and hits that are there more than once.',
    headings: ['', ...faults],
    rows: ways.map((way) => [way.name, ...faults.map((fault) => cell(way, fault))]),
  }
}

/** What is lost and what is doubled when something breaks. */
export const faults: Topic = {
  name: 'faults',
  title: 'What is lost or doubled when something breaks?',
  text:
    `${CLIENTS} clients count one key and send every hit again until it is acknowledged. Something breaks in the middle; then what they were told is compared with what is counted. ` +
    'A hit of which nobody was told anything may be there or not. Answers are cut ' +
    `for one in ${CUT_EVERY} statements that write (one in ${CUT_EVERY_GROUP} of group commit’s, which are fewer; the counter in memory writes once). The hop to a Durable Object is inside one process here: the Worker drops what comes back from it. ` +
    'A killed process loses nothing that it had handed to the system, so `appendfsync` makes no difference here; when the machine itself goes down, `everysec` loses up to a second. ' +
    'Where group commit could not find out what became of a batch, it says so (503, `X-Hit: unknown`); these clients then send the hit again, which may double it. ' +
    'Without an `Idempotency-Key` no way can tell a hit that is sent again from another one, once the Worker that was asked first is gone. Database kills are suffered by a private server, whatever `MYSQL_URL` names.',
  seconds: 1,
  variants,
  columns: ['told', 'untold', 'counted', 'lost', 'doubled'],
  comparisons: [],
  findings({ runs }) {
    const worst = (way: Way, fault: Fault, figure: 'lost' | 'doubled') =>
      median(
        runs.filter(({ variant }) => variant === named(way, fault)).map(({ figures }) => figures[figure] ?? Number.NaN),
      )
    const withKey = runs.filter(({ variant }) =>
      Object.keys(FAULTS).some((fault) => variant === named(PRODUCT_WITH_KEY, fault)),
    )
    const wrong = withKey.reduce((sum, { figures }) => sum + (figures.lost ?? 0) + (figures.doubled ?? 0), 0)
    return [
      `Send an \`Idempotency-Key\` where a number must be exact: with it ${wrong} hits were lost or doubled in ${withKey.length} runs. Plain hits lose nothing either, and a killed Worker doubles at most what was on its way ` +
        `(${worst(PRODUCT, 'Worker killed', 'doubled')} of ${CLIENTS} clients’ hits in the median).`,
      `Counting in memory lost ${worst(MEMORY, 'Worker killed', 'lost').toLocaleString('en-US')} acknowledged hits in the median when the Worker was killed, and cut answers doubled ` +
        `${worst(ROW, 'answers cut', 'doubled')} in one row and ${worst(REDIS_ALWAYS, 'answers cut', 'doubled')} in Redis, which cannot tell a repetition.`,
    ]
  },
  derived: ({ runs }) => [ledger(runs)],
}
