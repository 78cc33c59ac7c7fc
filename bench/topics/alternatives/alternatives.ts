import { type FigureName, formatFigure } from '../../harness/figure-names.ts'
import { httpVariant } from '../../harness/http-variant.ts'
import type { Run } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { withoutEmptyColumns } from '../../report/markdown-table.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { type Candidate, EVENTS, MEMORY, OBJECT, PRODUCT, REDIS, REDIS_SECOND, ROW } from './candidates.ts'
import { objectCost, workerCost } from './cloudflare-prices.ts'
import { killedName, killedVariant, NGINX, nginxKilled, nginxLoad } from './killed.ts'

const CONNECTIONS = 64
/** The number of keys where one is counted by everybody. */
export const HOT = 1
const KEYS = [HOT, 1_000]
const CANDIDATES = [PRODUCT, ROW, OBJECT, REDIS, REDIS_SECOND, MEMORY, EVENTS]

const keysText = (keys: number) => (keys === 1 ? 'one key' : `${keys.toLocaleString('en-US')} keys`)
/** The name of a variant. */
export const named = ({ name }: Pick<Candidate, 'name'>, keys: number) => `${name}, ${keysText(keys)}`

const load = KEYS.flatMap((keys) =>
  CANDIDATES.map((candidate) => {
    const { name, about, worker, path, redis, durableObjects, background, count } = candidate
    return httpVariant({
      name: named(candidate, keys),
      title: name,
      about,
      worker,
      path,
      ...(redis && { redis }),
      ...(durableObjects && { durableObjects }),
      ...(background && { background }),
      axes: { candidate: name, keys: keysText(keys) },
      connections: CONNECTIONS,
      keys,
      counts: (deployment) => count(deployment, keys),
    })
  }),
)

const nginx = nginxLoad(named(NGINX, HOT), CONNECTIONS, { candidate: NGINX.name, keys: keysText(HOT) })
const ofLoad = [...load, nginx]
const variants = [...ofLoad, ...CANDIDATES.map(killedVariant), nginxKilled]

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
export function figureOf(runs: readonly Run[], variant: string, figure: FigureName): string {
  const value = medianOf(runs, variant, figure)
  return formatFigure(figure, Number.isNaN(value) ? undefined : value)
}

/** What a way to count loses if everything is killed, its memory, and how long it takes to come back. */
export const killedFigures = (runs: readonly Run[], name: string) =>
  (['lost', 'memoryMiB', 'restartMs'] as const).map((figure) => figureOf(runs, killedName(name), figure))

const KILLED_TEXT =
  'Killed: after a second of hits by 16 clients, everything that counts and stores gets SIGKILL at once. Lost are hits that had been acknowledged. A power failure would also lose what only the kernel has: up to a second of Redis with `everysec`, and perhaps more of nginx’s log. Memory is that of workerd or nginx, and of the store. '
export const KILLED_HEADINGS = ['lost when killed', 'MiB of memory', 'ms from kill to answer']

function rowsOf(runs: readonly Run[]): string[][] {
  const rows = [...CANDIDATES, NGINX].map((way) => [
    way.name,
    way.about,
    ...KEYS.map((keys) => figureOf(runs, named(way, keys), 'perSecond')),
    figureOf(runs, named(way, HOT), 'p99Ms'),
    ...killedFigures(runs, way.name),
    'worker' in way ? priceOf(runs, way) : 'a server',
  ])
  return rows.filter(([, , perSecond]) => perSecond !== '–')
}

/** Other ways to count. */
export const alternatives: Topic = {
  name: 'alternatives',
  title: 'Would another way of counting be better?',
  text:
    `All run on the same machine with ${CONNECTIONS} connections. The Worker reaches Redis, like the database, through a Node.js process over HTTP. The Durable ` +
    'Object is in the same workerd; on Cloudflare, requests travel to the machine where it lives. All but the counter in memory answer after the hit is stored.',
  seconds: 1,
  variants,
  columns: [
    'perSecond',
    'p50Ms',
    'p99Ms',
    'statementsPer1000',
    'cpuMicros',
    'lockWaitsPer1000',
    'deadlocksPer1000',
    'milliseconds',
    'told',
    'counted',
    'lost',
    'memoryMiB',
    'restartMs',
  ],
  comparisons: [],
  charts: ({ runs }) => [
    barChart({
      name: 'alternatives',
      alt: 'Requests per second by way of counting',
      points: pointsOf(ofLoad, runs, 'perSecond'),
      series: { field: 'keys', title: 'load' },
      category: 'candidate',
      y: { title: `requests/s, ${CONNECTIONS} connections` },
    }),
  ],
  findings({ runs }) {
    const rate = (candidate: Candidate) => medianOf(runs, named(candidate, HOT), 'perSecond')
    const withRate = (candidate: Candidate) => `${candidate.name} (${rounded(rate(candidate))})`
    const faster = [OBJECT, REDIS, REDIS_SECOND, MEMORY, EVENTS].filter((candidate) => rate(candidate) > rate(PRODUCT))
    const better =
      faster.length === 0 ? 'No alternative is faster' : `Faster alternatives: ${faster.map(withRate).join(', ')}`
    return [
      `For one busy key, group commit counts ${rounded(rate(PRODUCT))} hits/s. ${better}.`,
      'Use a Durable Object if you have no database, need not list or join counters, and no counter comes near 1,000 requests/s, the platform’s limit per object.',
      'Use Redis if you already run it, and may count a hit twice after a lost response.',
      'Use a counter in memory if you may lose the last 10 s at a restart.',
      'Use an event log if you need the individual hits.',
    ]
  },
  derived: ({ runs }) => [
    {
      title: 'Against what you would pick instead',
      text:
        (runs.some(({ variant }) => variant === killedName(PRODUCT.name)) ? KILLED_TEXT : '') +
        'The price of a million hits follows Cloudflare’s paid plan (September 2026, US dollars, without the included amounts): the Worker’s requests and its CPU time for one key, ' +
        'and the Durable Object’s requests, rows and time in memory.',
      ...withoutEmptyColumns(
        ['', '', ...KEYS.map((keys) => `hits/s, ${keysText(keys)}`), 'p99 ms', ...KILLED_HEADINGS, 'a million hits'],
        rowsOf(runs),
      ),
    },
  ],
}
