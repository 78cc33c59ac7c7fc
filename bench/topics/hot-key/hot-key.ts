import { httpVariant } from '../../harness/http-variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
const HIT_QUERY = '?type=page_view&key=%2Fblog%2Fhello'
const TYPE = { public: true, allowed_origins: ['*'], new_keys_per_minute: 'unlimited' }
const COUNTERS = {
  page_view: { ...TYPE, record_type: 1 },
  download: { ...TYPE, record_type: 2, redirect_to: 'https://files.example/' },
  profile_view: { ...TYPE, record_type: 3, counting_badge: true },
}

const QUERY = 'POST /hit?…'
const JSON_BODY = 'POST /hit'

/** The requests that count. */
const REQUESTS = [
  { name: QUERY, about: 'type and key in the query', path: `/hit${HIT_QUERY}`, keys: 0, method: 'POST' },
  { name: JSON_BODY, about: 'a JSON body', path: '/hit', keys: 1, method: 'POST' },
  { name: 'GET /hit.gif', about: 'a pixel', path: `/hit.gif${HIT_QUERY}`, keys: 0, method: 'GET' },
  { name: 'GET /d/…', about: 'a download', path: '/d/download/app.tgz', keys: 0, method: 'GET' },
  { name: 'GET /hit/….svg', about: 'a counting badge', path: '/hit/profile_view/me.svg', keys: 0, method: 'GET' },
] as const

const uncounted = (name: string) => `${name}, not counted`

const variants = REQUESTS.flatMap(({ name, about, ...request }) =>
  [true, false].map((isCounted) => ({
    ...httpVariant({
      ...request,
      name: isCounted ? name : uncounted(name),
      about: isCounted ? about : 'the same request and answer, but nothing is counted',
      worker: isCounted ? 'product' : 'uncounted',
      connections: CONNECTIONS,
      settings: { COUNTERS },
      counts: isCounted ? 'slotted_counters' : null,
    }),
    axes: { request: name, way: isCounted ? 'counted' : 'not counted' },
  })),
)

/** One counter that everybody increments, compared with the same requests that are not counted. */
export const hotKey: Topic = {
  name: 'hot-key',
  title: 'How much does counting cost?',
  text:
    `${CONNECTIONS} connections count one key. The baseline is the same request to a Worker that reads, ` +
    'checks and answers it, but counts nothing. Requests/s depend on all programs, which share the CPUs; CPU time is the Worker’s alone.',
  missed:
    'Every answer waits for its commit, and no design that was tried reaches these targets: ' +
    'waiting alone costs more CPU time than they allow ([notes](notes.md#hits)).',
  variants,
  seconds: 2,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros'],
  comparisons: REQUESTS.flatMap(({ name }) => [
    {
      label: `requests/s: ${name}`,
      figure: 'perSecond',
      of: name,
      to: uncounted(name),
      target: { atLeast: 0.88 },
    },
    {
      label: `CPU per request: ${name}`,
      figure: 'cpuMicros',
      of: name,
      to: uncounted(name),
      target: { atMost: 1.15 },
    },
  ]),
  charts: ({ runs }) => [
    barChart({
      name: 'hot-key',
      alt: 'Requests per second of each request, counted and not counted',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'way', title: '' },
      category: 'request',
      y: { title: `requests/s, ${CONNECTIONS} connections` },
    }),
  ],
  findings({ runs }) {
    const rate = (variant: string) => rounded(medianOf(runs, variant, 'perSecond'))
    return [
      `With type and key in the query, as the beacon sends them: ${rate(QUERY)} hits/s. With a JSON body: ${rate(JSON_BODY)}.`,
    ]
  },
}
