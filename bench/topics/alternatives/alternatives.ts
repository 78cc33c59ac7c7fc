import { httpVariant } from '../../harness/http-variant.ts'
import type { Run } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { type Candidate, CUMULATIVE, EVENTS, MEMORY, OBJECT, PRODUCT, REDIS, ROW } from './candidates.ts'
import { objectCost, PRICES, workerCost } from './cloudflare-prices.ts'

const CONNECTIONS = 64
const KEYS = [1, 1_000]
const CANDIDATES = [PRODUCT, ROW, OBJECT, REDIS, MEMORY, EVENTS, CUMULATIVE]

const keysText = (keys: number) => (keys === 1 ? 'one key' : `${keys.toLocaleString('en-US')} keys`)
const named = ({ name }: Candidate, keys: number) => `${name}, ${keysText(keys)}`

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
      table: keys === 1 ? 'One key' : keysText(keys),
      axes: { candidate: name, keys: keysText(keys) },
      connections: CONNECTIONS,
      keys,
      counts: (deployment) => count(deployment, keys),
    })
  }),
)

/** Hits per second for which to show a Durable Object's cost. */
const RATES = [1, 1_000]

function costs(runs: readonly Run[]): string[][] {
  const money = (dollars: number) => `$${dollars.toFixed(dollars < 0.01 ? 4 : 2)}`
  return CANDIDATES.map((candidate) => {
    const cpu = medianOf(runs, named(candidate, 1), 'cpuMicros')
    const statements = medianOf(runs, named(candidate, 1), 'statementsPer1000')
    const worker = workerCost(cpu)
    const own = `${PRICES.workerRequests.toFixed(2)} + ${rounded(cpu)} µs × ${PRICES.workerCpuMs} / 1,000`
    if (candidate === OBJECT) {
      const [slow, fast] = RATES.map((rate) => worker + objectCost(rate)) as [number, number]
      return [
        candidate.name,
        `${money(fast)} at ${RATES[1]!.toLocaleString('en-US')} hits/s, ${money(slow)} at ${RATES[0]} hit/s`,
        `${own} + ${PRICES.objectRequests} + ${PRICES.objectRowsWritten.toFixed(2)} + ${PRICES.objectRowsRead} + 1,000,000 ÷ hits/s × 0.128 GB × ${PRICES.objectGbSeconds} / 1,000,000`,
        '–',
      ]
    }
    const store = candidate.redis ? 'plus Redis' : 'plus a database'
    return [
      candidate.name,
      `${money(worker)} ${store}`,
      own,
      candidate.redis ? '1,000.0 commands' : statements.toFixed(1),
    ]
  }).filter((row) => !row.join('').includes('NaN'))
}

/** Other ways to count. */
export const alternatives: Topic = {
  name: 'alternatives',
  title: 'Would another way of counting be better?',
  text:
    `Seven ways to count, each on the same workerd, with ${CONNECTIONS} connections, for one key and for ${KEYS[1]!.toLocaleString('en-US')} keys. The database is the first server at its default isolation ` +
    'level. No latency is added. Redis is Debian’s, behind a Node.js process that serves HTTP, like the database. The Durable Object runs in the same workerd, so requests to it ' +
    'stay within one process; on Cloudflare they travel to the machine where the object lives. All but the counter in memory respond after the hit is stored. `faults` shows what each of them loses or counts twice.',
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
    barChart({
      name: 'alternatives-p99',
      alt: 'p99 latency by way of counting',
      points: pointsOf(variants, runs, 'p99Ms'),
      series: { field: 'keys', title: 'load' },
      category: 'candidate',
      y: { title: 'p99, ms' },
    }),
  ],
  findings({ runs }) {
    const rate = (candidate: Candidate, keys = 1) => medianOf(runs, named(candidate, keys), 'perSecond')
    const withRate = (candidate: Candidate) => `${candidate.name} (${rounded(rate(candidate))})`
    const faster = [OBJECT, REDIS, MEMORY, CUMULATIVE, EVENTS].filter((candidate) => rate(candidate) > rate(PRODUCT))
    const better = faster.length === 0 ? 'No alternative is faster' : `Faster: ${faster.map(withRate).join(', ')}`
    return [
      `For one busy key, group commit counts ${rounded(rate(PRODUCT))} hits/s. ${better}.`,
      'Use a Durable Object if you have no database, no counter comes near the platform’s limit of 1,000 requests/s per object, and you need not list or join counters.',
      'Use Redis if you already run it, and if double-counting a hit after a lost response is acceptable.',
      'Use a counter in memory if losing the last 10 s at a restart is acceptable.',
      'Use an event log if you need the individual hits.',
      'Where counts must be exact after every failure, use slots that recognise a repeated batch.',
    ]
  },
  derived: ({ runs }) => [
    {
      title: 'A million hits at list prices',
      text:
        'Prices of Cloudflare’s paid plan in September 2026, in US dollars, without the included amounts (`cloudflare-prices.ts`). They cover the Worker’s requests and its CPU time as measured here for one key. For the Durable Object they add ' +
        'its requests, the row that each request reads and writes, and its time in memory, which depends on the rate of hits. Storage is not included. Nor are the database and Redis, which are priced by size rather than by hit; the statements show the load on the database.',
      headings: ['', 'cost of a million hits', 'calculation', 'statements per 1,000 hits'],
      rows: costs(runs),
    },
  ],
}
