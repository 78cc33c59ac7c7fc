import { httpVariant } from '../harness/http-variant.ts'
import { objectCost, PRICES, workerCost } from '../prices.ts'
import { barChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Run, Topic } from '../topic.ts'
import {
  CUMULATIVE,
  EVENTS,
  MEMORY,
  OBJECT,
  PRODUCT,
  PUBLISHED,
  REDIS_ALWAYS,
  REDIS_EVERYSEC,
  ROW,
  type Way,
  WRITER,
} from './ways.ts'

const CONNECTIONS = 64
const KEYS = [1, 1_000]
const WAYS = [PRODUCT, ROW, PUBLISHED, WRITER, OBJECT, REDIS_ALWAYS, REDIS_EVERYSEC, MEMORY, EVENTS, CUMULATIVE]

const keysText = (keys: number) => (keys === 1 ? 'one key' : `${keys.toLocaleString('en-US')} keys`)
const named = ({ name }: Way, keys: number) => `${name}, ${keysText(keys)}`

const variants = KEYS.flatMap((keys) =>
  WAYS.map((way) => {
    const { name, about, worker, path, redis, durableObjects, beside, count } = way
    return httpVariant({
      name: named(way, keys),
      about,
      worker,
      path,
      ...(redis && { redis }),
      ...(durableObjects && { durableObjects }),
      ...(beside && { beside }),
      table: keysText(keys),
      axes: { way: name, keys: keysText(keys) },
      connections: CONNECTIONS,
      keys,
      counts: (service) => count(service, keys),
    })
  }),
)

/** Hits per second at which a Durable Object's time in memory is charged. */
const RATES = [1, 1_000]

function costs(runs: readonly Run[]): string[][] {
  const money = (dollars: number) => `$${dollars.toFixed(dollars < 0.01 ? 4 : 2)}`
  return WAYS.map((way) => {
    const cpu = medianOf(runs, named(way, 1), 'cpuMicros')
    const statements = medianOf(runs, named(way, 1), 'statementsPer1000')
    const worker = workerCost(cpu)
    const own = `${PRICES.workerRequests.toFixed(2)} + ${about(cpu)} µs × ${PRICES.workerCpuMs} / 1,000`
    if (way === OBJECT) {
      const [slow, fast] = RATES.map((rate) => worker + objectCost(rate)) as [number, number]
      return [
        way.name,
        `${money(fast)} at ${RATES[1]!.toLocaleString('en-US')} hits/s, ${money(slow)} at ${RATES[0]} hit/s`,
        `${own} + ${PRICES.objectRequests} + ${PRICES.objectRowsWritten.toFixed(2)} + ${PRICES.objectRowsRead} + 1,000,000 ÷ hits/s × 0.128 GB × ${PRICES.objectGbSeconds} / 1,000,000`,
        '–',
      ]
    }
    const store = way.redis ? 'and a Redis' : 'and a database'
    return [way.name, `${money(worker)} ${store}`, own, way.redis ? '1,000.0 commands' : statements.toFixed(1)]
  }).filter((row) => !row.join('').includes('NaN'))
}

/** What else one could count with. */
export const alternatives: Topic = {
  name: 'alternatives',
  title: 'Would something else count better?',
  text:
    `Ten ways to count, each on the same workerd, ${CONNECTIONS} connections, of one key and of ${KEYS[1]!.toLocaleString('en-US')}; the database is the first server with its own isolation ` +
    'level, no latency is added to anything. Redis is Debian’s, behind a Node.js process that takes HTTP, as the database is. The Durable Object runs in the same workerd, so its ' +
    'hop is one within a process; on Cloudflare it is one between machines, to where the object lives. All but the counter in memory answer after what they count is stored. What each loses or doubles is in `faults`.',
  seconds: 1,
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros', 'lockWaitsPer1000', 'deadlocksPer1000'],
  comparisons: [],
  charts: ({ runs }) => [
    barChart({
      name: 'alternatives',
      alt: 'Answered requests per second by way of counting',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'keys', title: 'counted' },
      category: 'way',
      y: { title: `answered/s, ${CONNECTIONS} connections` },
    }),
    barChart({
      name: 'alternatives-p99',
      alt: '99th percentile of the time to an answer by way of counting',
      points: pointsOf(variants, runs, 'p99Ms'),
      series: { field: 'keys', title: 'counted' },
      category: 'way',
      y: { title: '99th percentile, ms' },
    }),
  ],
  findings({ runs }) {
    const rate = (way: Way, keys = 1) => medianOf(runs, named(way, keys), 'perSecond')
    const say = (way: Way) => `${way.name} ${about(rate(way))}`
    const faster = [OBJECT, REDIS_ALWAYS, REDIS_EVERYSEC, MEMORY, CUMULATIVE, EVENTS].filter(
      (way) => rate(way) > rate(PRODUCT),
    )
    const better = faster.length === 0 ? 'none of the others answers more' : `more: ${faster.map(say).join(', ')}`
    return [
      `For one busy key group commit answers ${about(rate(PRODUCT))} hits/s; ${better}.`,
      'Take a Durable Object if you have no database and no single counter comes near its 1,000 requests/s (limit of the platform), and the object need not be joined or listed with others; Redis if ' +
        'you run one already and a doubled hit after a lost answer does not matter; a counter in memory if a restart may cost the last 10 s; an event log if you need the hits themselves. ' +
        'Where numbers must be exact after every failure, stay with slots that recognise a batch.',
    ]
  },
  derived: ({ runs }) => [
    {
      title: 'A million hits at list prices',
      text:
        'Cloudflare’s paid plan, what it includes left out, prices of September 2026 (`prices.ts`): requests and CPU of the Worker as measured here for one key, and the Durable Object’s requests, the row that each of them ' +
        'reads and writes, and its time in memory, which depends on how fast the hits come. Not in it: what stored gigabytes cost, and the database or Redis, which are paid by size and not by hit; what a hit takes of a database is its statements.',
      headings: ['', 'for a million hits', 'worked out as', 'statements per 1,000 hits'],
      rows: costs(runs),
    },
  ],
}
