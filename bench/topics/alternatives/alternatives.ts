import { type FigureName, formatFigure } from '../../harness/figure-names.ts'
import { httpVariant } from '../../harness/http-variant.ts'
import type { Run } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { renderTable, withoutEmptyColumns } from '../../report/markdown-table.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Results } from '../../report/results.ts'
import type { Topic } from '../../report/topic.ts'
import { type Candidate, OBJECT, PRODUCT, REDIS, REDIS_SECOND, ROW } from './candidates.ts'
import { objectCost, workerCost } from './cloudflare-prices.ts'
import { DAY, histories, historyName } from './history.ts'
import { killedName, killedVariant, outsideKilled } from './killed.ts'
import { NGINX, outsideLoad, WEB_COUNTER } from './outside.ts'

const CONNECTIONS = 64
/** The number of keys where one is counted by everybody. */
const HOT = 1
const KEYS = [HOT, 1_000]
const CANDIDATES = [PRODUCT, REDIS, REDIS_SECOND, ROW, OBJECT]
const OUTSIDE = [NGINX, WEB_COUNTER]

const keysText = (keys: number) => (keys === 1 ? 'one key' : `${keys.toLocaleString('en-US')} keys`)
/** The name of a variant. */
const named = ({ name }: Pick<Candidate, 'name'>, keys: number) => `${name}, ${keysText(keys)}`

const load = KEYS.flatMap((keys) =>
  CANDIDATES.map((candidate) => {
    const { name, about, worker, path, redis, durableObjects, count } = candidate
    return httpVariant({
      name: named(candidate, keys),
      title: name,
      about,
      worker,
      path,
      ...(redis && { redis }),
      ...(durableObjects && { durableObjects }),
      axes: { candidate: name, keys: keysText(keys) },
      connections: CONNECTIONS,
      keys,
      counts: (deployment) => count(deployment, keys),
    })
  }),
)

const ofLoad = [
  ...load,
  ...OUTSIDE.map((outside) => {
    const { name } = outside.way
    return outsideLoad(outside, named(outside.way, HOT), CONNECTIONS, { candidate: name, keys: keysText(HOT) })
  }),
]
const variants = [...ofLoad, ...CANDIDATES.map(killedVariant), ...OUTSIDE.map(outsideKilled), ...histories]

/** Hits per second for which to show a Durable Object's cost. */
const RATES = [1, 1_000]

const money = (dollars: number) => `$${dollars.toFixed(2)}`

function priceOf(runs: readonly Run[], candidate: Candidate): string {
  const worker = workerCost(medianOf(runs, named(candidate, HOT), 'cpuMicros'))
  if (candidate !== OBJECT) return `${money(worker)} ${candidate.redis ? 'plus Redis' : 'plus a database'}`
  const [slow, fast] = RATES.map((rate) => money(worker + objectCost(rate))) as [string, string]
  return `${fast} at ${RATES[1]!.toLocaleString('en-US')} hits/s, ${slow} at ${RATES[0]} hit/s`
}

/** A figure of a way to count; a dash if it was not measured. */
function figureOf(runs: readonly Run[], variant: string, figure: FigureName): string {
  const value = medianOf(runs, variant, figure)
  return formatFigure(figure, Number.isNaN(value) ? undefined : value)
}

/** KiB of a day of history; Redis keeps the history of both ways the same. */
function historyOf(runs: readonly Run[], way: Pick<Candidate, 'name'>): string {
  const name = way === REDIS_SECOND ? historyName(REDIS) : historyName(way)
  const [day, later, memory] = (['dayKiB', 'laterKiB', 'dayMemoryKiB'] as const).map((of) => figureOf(runs, name, of))
  if (later !== '–') return `${day}, later ${later}`
  if (memory !== '–') return `${day}, and ${memory} of memory`
  return day === '–' ? figureOf(runs, named(way, HOT), 'dayKiB') : day!
}

/** What others do, in a table for the first screen; `null` if that was not measured. */
export function renderOthers(results: Results): string | null {
  const runs = results[alternatives.name]?.runs
  if (runs === undefined) return null
  const rows = [...CANDIDATES, ...OUTSIDE.map(({ way }) => way)].map((way) => [
    way.name,
    ...KEYS.map((keys) => figureOf(runs, named(way, keys), 'perSecond')),
    figureOf(runs, named(way, HOT), 'p99Ms'),
    ...(['lost', 'memoryMiB', 'restartMs'] as const).map((figure) => figureOf(runs, killedName(way.name), figure)),
    historyOf(runs, way),
  ])
  const { headings, rows: kept } = withoutEmptyColumns(
    [
      '',
      ...KEYS.map((keys) => `hits/s, ${keysText(keys)}`),
      'p99 ms',
      'hits lost when killed, at least',
      'MiB of memory',
      'ms from kill to answer',
      'KiB for a day',
    ],
    rows.filter(([, perSecond]) => perSecond !== '–'),
  )
  return renderTable(headings, kept)
}

/** Other ways to count. */
export const alternatives: Topic = {
  name: 'alternatives',
  title: 'Would another way of counting be better?',
  text:
    `All run on the same machine with ${CONNECTIONS} connections, and answer after the hit is stored, except web-counter, which stores it later. All but nginx and web-counter are ` +
    'routes of a Worker. Like the database, Redis (`INCR`, `appendfsync` as labeled) is reached over HTTP, through a Node.js process. The Durable Object is in the same workerd; ' +
    'on Cloudflare, requests travel to the machine where it lives. “One row” is an upsert in MySQL. GoAccess reads nginx’s log. web-counter, from PyPI, has no limit on hits here.\n\n' +
    'Killed: after a second of hits by 16 clients, everything that counts and stores gets SIGKILL at once. Lost: at least this many acknowledged hits are missing; up to 16 counted, unacknowledged hits may hide more. Killing loses nothing that the kernel has; a power failure may. ' +
    `Memory is that of workerd (or the server) plus the store. A day of history: ${DAY}. ` +
    'Group commit keeps days, and hours for 90 days; “one row” and Redis keep one row (or Redis key) per counter and day; nginx and web-counter keep each hit.',
  seconds: 1,
  variants,
  columns: [
    'perSecond',
    'p50Ms',
    'p99Ms',
    'statementsPer1000',
    'cpuMicros',
    'lockWaitsPer1000',
    'milliseconds',
    'told',
    'counted',
    'lost',
    'dayKiB',
    'laterKiB',
    'dayMemoryKiB',
    'memoryMiB',
    'restartMs',
  ],
  comparisons: [],
  charts: ({ runs }) => [
    barChart({
      name: 'alternatives',
      alt: 'Requests per second by counting method',
      points: pointsOf(ofLoad, runs, 'perSecond'),
      series: { field: 'keys', title: 'load' },
      category: 'candidate',
      y: { title: `requests/s, ${CONNECTIONS} connections` },
    }),
  ],
  findings({ runs }) {
    const rate = (candidate: Candidate) => medianOf(runs, named(candidate, HOT), 'perSecond')
    const withRate = (candidate: Candidate) => `${candidate.name} (${rounded(rate(candidate))})`
    const faster = CANDIDATES.filter((candidate) => rate(candidate) > rate(PRODUCT))
    const better =
      faster.length === 0 ? 'No other Worker is faster' : `Faster Workers: ${faster.map(withRate).join(', ')}`
    return [
      `For one busy key, group commit counts ${rounded(rate(PRODUCT))} hits/s. ${better}.`,
      'Use a Durable Object if you have no database, need not list or join counters, and no counter comes near 1,000 requests/s, the platform’s limit per object.',
      'Use Redis if you already run it, and can accept a hit counted twice after a lost response.',
      `On Cloudflare’s paid plan, a million hits cost ${priceOf(runs, PRODUCT)} (September 2026, without the included amounts). With a Durable Object: ${priceOf(runs, OBJECT)}.`,
    ]
  },
}
