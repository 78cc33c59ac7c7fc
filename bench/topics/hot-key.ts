import { type HttpVariant, httpVariant } from '../harness/http-variant.ts'
import { barChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Comparison, Topic, Variant } from '../topic.ts'

const CONNECTIONS = 256
const SAID = '?type=page_view&key=%2Fblog%2Fhello'

const route = (
  name: string,
  about: string,
  rest: Pick<HttpVariant, 'worker' | 'path' | 'counts' | 'method' | 'keys'>,
) => httpVariant({ name, about, connections: CONNECTIONS, ...rest })

const HIT = 'POST /hit'
const QUERY = 'POST /hit?…'
const PIXEL = 'GET /hit.gif'
const NOTHING = 'nothing, same Worker'
const NOTHING_QUERY = 'nothing without a body, same Worker'
const BARE = 'nothing, bare Hono'
const BODY = 'body only, bare Hono'

const variants: Variant[] = [
  route(HIT, 'counts and answers after the commit', { worker: 'product', path: '/hit', counts: 'slotted_counters' }),
  route(QUERY, 'the same without a body', {
    worker: 'product',
    path: `/hit${SAID}`,
    keys: 0,
    counts: 'slotted_counters',
  }),
  route(PIXEL, 'the same, as an image', {
    worker: 'product',
    method: 'GET',
    path: `/hit.gif${SAID}`,
    keys: 0,
    counts: 'slotted_counters',
  }),
  route(NOTHING, 'a route of the same Worker that does nothing', {
    worker: 'product',
    path: '/bench/nothing',
    counts: null,
  }),
  route(NOTHING_QUERY, 'the same, asked as the hits without a body', {
    worker: 'product',
    path: `/bench/nothing${SAID}`,
    keys: 0,
    counts: null,
  }),
  route(BARE, 'a Hono app without middlewares that does nothing', { worker: 'bare', path: '/nothing', counts: null }),
  route(BODY, 'the same, after reading the body', { worker: 'bare', path: '/body', counts: null }),
].map((variant) => ({ ...variant, axes: { way: variant.name } }))

/** One counter that everybody increments, against routes that do nothing. */
export const hotKey: Topic = {
  name: 'hot-key',
  title: 'What does counting cost beside doing nothing?',
  text:
    `${CONNECTIONS} connections count one key; every request is answered after its commit. No latency is added. Two routes ` +
    'that do nothing but answer 204 to the same request (with its body, or without one) are the ceiling: one in the same Worker, behind its middlewares, and one ' +
    'in a Hono app without any. Worker, endpoint, database and wrk share the machine’s processors, so counting pays for all of them.',
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros'],
  comparisons: [[HIT, NOTHING] as const, [QUERY, NOTHING_QUERY] as const, [PIXEL, NOTHING_QUERY] as const].flatMap(
    ([of, to]): Comparison[] => [
      {
        says: `answered/s: ${of} against doing nothing in the same Worker`,
        figure: 'perSecond',
        of,
        to,
        target: { atLeast: 0.7 },
      },
      { says: `answered/s: ${of} against doing nothing in a bare Hono app`, figure: 'perSecond', of, to: BARE },
      {
        says: `database statements per 1,000 requests: ${of}`,
        figure: 'statementsPer1000',
        of,
        target: { atMost: 12 },
      },
      {
        says: `CPU µs per request: ${of} beyond doing nothing in the same Worker`,
        figure: 'cpuMicros',
        of,
        to,
        as: 'difference',
      },
    ],
  ),
  charts: ({ runs }) => [
    barChart({
      name: 'hot-key',
      alt: 'Answered requests per second, counting and doing nothing',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'way', title: '' },
      category: 'way',
      y: { title: `answered/s, ${CONNECTIONS} connections` },
    }),
  ],
  findings({ runs }) {
    const [query, body] = [medianOf(runs, QUERY, 'perSecond'), medianOf(runs, HIT, 'perSecond')]
    return [
      `Say type and key in the query, as the beacon does: ${about(query)} hits/s instead of ${about(body)} with a JSON body.`,
      `An isolate that counts every hit before it answers does ${about((query / medianOf(runs, NOTHING_QUERY, 'perSecond')) * 100)} % of what it does when it counts nothing.`,
    ]
  },
}
