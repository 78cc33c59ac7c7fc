import { formatFigure } from '../../harness/figure-names.ts'
import { httpVariant } from '../../harness/http-variant.ts'
import type { Run } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { type Candidate, EVENTS, MEMORY, OBJECT, PRODUCT, REDIS, ROW } from './candidates.ts'
import { objectCost, workerCost } from './cloudflare-prices.ts'

const CONNECTIONS = 64
/** The number of keys where one is counted by everybody. */
export const HOT = 1
const KEYS = [HOT, 1_000]
const CANDIDATES = [PRODUCT, ROW, OBJECT, REDIS, MEMORY, EVENTS]

const keysText = (keys: number) => (keys === 1 ? 'one key' : `${keys.toLocaleString('en-US')} keys`)
/** The name of a variant. */
export const named = ({ name }: Candidate, keys: number) => `${name}, ${keysText(keys)}`

const variants = KEYS.flatMap((keys) =>
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

/** Hits per second for which to show a Durable Object's cost. */
const RATES = [1, 1_000]

function rowsOf(runs: readonly Run[]): string[][] {
  const money = (dollars: number) => `$${dollars.toFixed(2)}`
  return CANDIDATES.map((candidate) => {
    const figure = (name: 'perSecond' | 'p99Ms' | 'cpuMicros' | 'statementsPer1000', keys = HOT) =>
      medianOf(runs, named(candidate, keys), name)
    const worker = workerCost(figure('cpuMicros'))
    const [slow, fast] = RATES.map((rate) => money(worker + objectCost(rate))) as [string, string]
    const store = candidate.redis ? 'plus Redis' : 'plus a database'
    return [
      candidate.name,
      candidate.about,
      ...KEYS.map((keys) => formatFigure('perSecond', figure('perSecond', keys))),
      formatFigure('p99Ms', figure('p99Ms')),
      candidate === OBJECT || candidate.redis ? '–' : formatFigure('statementsPer1000', figure('statementsPer1000')),
      candidate === OBJECT
        ? `${fast} at ${RATES[1]!.toLocaleString('en-US')} hits/s, ${slow} at ${RATES[0]} hit/s`
        : `${money(worker)} ${store}`,
    ]
  }).filter((row) => !row.join('').includes('NaN'))
}

/** Other ways to count. */
export const alternatives: Topic = {
  name: 'alternatives',
  title: 'Would another way of counting be better?',
  text:
    `Six ways to count on the same workerd, with ${CONNECTIONS} connections. Redis is behind a Node.js process that serves HTTP, like the database. The Durable ` +
    'Object runs in the same workerd; on Cloudflare, requests travel to the machine where it lives. All but the counter in memory answer after the hit is stored.',
  seconds: 1,
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros', 'lockWaitsPer1000', 'deadlocksPer1000'],
  comparisons: [],
  charts: ({ runs }) => [
    barChart({
      name: 'alternatives',
      alt: 'Requests per second by way of counting',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'keys', title: 'load' },
      category: 'candidate',
      y: { title: `requests/s, ${CONNECTIONS} connections` },
    }),
  ],
  findings({ runs }) {
    const rate = (candidate: Candidate) => medianOf(runs, named(candidate, HOT), 'perSecond')
    const withRate = (candidate: Candidate) => `${candidate.name} (${rounded(rate(candidate))})`
    const faster = [OBJECT, REDIS, MEMORY, EVENTS].filter((candidate) => rate(candidate) > rate(PRODUCT))
    const better = faster.length === 0 ? 'No alternative is faster' : `Faster: ${faster.map(withRate).join(', ')}`
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
      title: 'Speed and price',
      text:
        'A million hits at list prices of Cloudflare’s paid plan (September 2026, US dollars, without the included amounts): the Worker’s requests and its CPU time for one key, ' +
        'and the Durable Object’s requests, rows and time in memory. Database, Redis and storage are extra.',
      headings: [
        '',
        '',
        ...KEYS.map((keys) => `hits/s, ${keysText(keys)}`),
        'p99 ms',
        'statements per 1,000',
        'a million hits',
      ],
      rows: rowsOf(runs),
    },
  ],
}
