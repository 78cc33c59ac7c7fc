import { type HttpVariant, httpVariant } from '../../harness/http-variant.ts'
import type { Variant } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import type { Comparison } from '../../report/comparison.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
const HIT_QUERY = '?type=page_view&key=%2Fblog%2Fhello'

const route = (
  name: string,
  about: string,
  rest: Pick<HttpVariant, 'title' | 'worker' | 'path' | 'counts' | 'method' | 'keys'>,
) => httpVariant({ name, about, connections: CONNECTIONS, ...rest })

const HIT = 'POST /hit'
const QUERY = 'POST /hit?…'
const PIXEL = 'GET /hit.gif'
const NOTHING = 'nothing, same Worker'
const NOTHING_QUERY = 'nothing without a body, same Worker'
const BARE = 'nothing, bare Hono'
const BODY = 'body only, bare Hono'

/** The counting routes, the no-ops that they are compared with, and their targets. */
const COMPARED: { of: string; to: string; atLeast: number; atLeastOfBare?: number }[] = [
  { of: HIT, to: NOTHING, atLeast: 0.77 },
  { of: QUERY, to: NOTHING_QUERY, atLeast: 0.82, atLeastOfBare: 0.75 },
  { of: PIXEL, to: NOTHING_QUERY, atLeast: 0.72 },
]

const variants: Variant[] = [
  route(HIT, 'counts, and responds after the commit', { worker: 'product', path: '/hit', counts: 'slotted_counters' }),
  route(QUERY, 'the same without a body', {
    worker: 'product',
    path: `/hit${HIT_QUERY}`,
    keys: 0,
    counts: 'slotted_counters',
  }),
  route(PIXEL, 'the same as an image', {
    worker: 'product',
    method: 'GET',
    path: `/hit.gif${HIT_QUERY}`,
    keys: 0,
    counts: 'slotted_counters',
  }),
  route(NOTHING, 'a no-op route of the same Worker', {
    title: 'no-op, same Worker',
    worker: 'product',
    path: '/bench/nothing',
    counts: null,
  }),
  route(NOTHING_QUERY, 'the same without a body', {
    title: 'no-op without a body, same Worker',
    worker: 'product',
    path: `/bench/nothing${HIT_QUERY}`,
    keys: 0,
    counts: null,
  }),
  route(BARE, 'a no-op route of a Hono app without middleware', {
    title: 'no-op, bare Hono app',
    worker: 'baselines',
    path: '/nothing',
    counts: null,
  }),
  route(BODY, 'the same, after reading the body', {
    title: 'no-op that reads the body, bare Hono app',
    worker: 'baselines',
    path: '/body',
    counts: null,
  }),
].map((variant) => ({ ...variant, axes: { way: variant.title ?? variant.name } }))

/** One counter that everybody increments, compared with no-op routes. */
export const hotKey: Topic = {
  name: 'hot-key',
  title: 'How much does counting cost compared with a no-op?',
  text:
    `${CONNECTIONS} connections count one key. Every hit is answered after its commit. A no-op route answers the same request with 204: one in ` +
    'the same Worker, behind its middleware, and one in a Hono app without middleware. Worker, endpoint, database and wrk share the CPUs, so ' +
    'requests/s includes the cost of all of them. CPU time is the Worker’s alone. Its target follows from that of requests/s.',
  variants,
  seconds: 2,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros'],
  comparisons: COMPARED.flatMap(({ of, to, atLeast, atLeastOfBare }): Comparison[] => [
    {
      label: `requests/s: ${of} vs. no-op, same Worker`,
      figure: 'perSecond',
      of,
      to,
      target: { atLeast },
    },
    {
      label: `requests/s: ${of} vs. no-op, bare Hono app`,
      figure: 'perSecond',
      of,
      to: BARE,
      ...(atLeastOfBare !== undefined && { target: { atLeast: atLeastOfBare } }),
    },
    {
      label: `statements per 1,000 requests: ${of}`,
      figure: 'statementsPer1000',
      of,
      target: { atMost: 12 },
    },
    {
      label: `CPU per request: ${of} vs. no-op, same Worker`,
      figure: 'cpuMicros',
      of,
      to,
      target: { atMost: 1 / atLeast },
    },
  ]),
  charts: ({ runs }) => [
    barChart({
      name: 'hot-key',
      alt: 'Requests per second of counting routes and no-op routes',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'way', title: '' },
      category: 'way',
      y: { title: `requests/s, ${CONNECTIONS} connections` },
    }),
  ],
  findings({ runs }) {
    const [query, body] = [medianOf(runs, QUERY, 'perSecond'), medianOf(runs, HIT, 'perSecond')]
    return [
      `With type and key in the query, as the beacon sends them: ${rounded(query)} hits/s. With a JSON body: ${rounded(body)}.`,
      `Counting each hit before answering leaves ${rounded((query / medianOf(runs, NOTHING_QUERY, 'perSecond')) * 100)} % of the requests/s of a route that does nothing.`,
    ]
  },
}
