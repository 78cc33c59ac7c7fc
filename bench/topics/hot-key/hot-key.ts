import { type HttpVariant, httpVariant } from '../../harness/http-variant.ts'
import { runWrk } from '../../harness/wrk.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
/** Time-out for two seconds of load. */
const WAITS_MS = 60_000
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

const uncounted = (name: string) => `${name}, only waits`

/** Counts until the Worker is warm, and tells it to wait as long as hits did in the second after that. */
const waitAsLong =
  ({ method, path, keys }: (typeof REQUESTS)[number]): NonNullable<HttpVariant['prepare']> =>
  async ({ url }) => {
    const load = { method, url: url + path, keys, connections: CONNECTIONS, order: 'turn', seed: 1 } as const
    for (const [seconds, then] of [
      [2, '/bench/forget-waits'],
      [1, '/bench/only-wait'],
    ] as const) {
      await runWrk({ ...load, rampSeconds: 0, seconds }, AbortSignal.timeout(WAITS_MS))
      const response = await fetch(url + then)
      if (!response.ok) throw new Error(`${then}: ${await response.text()}`)
    }
  }

const variants = REQUESTS.flatMap((one) => {
  const { name, about, ...request } = one
  return [true, false].map((isCounted) => ({
    ...httpVariant({
      ...request,
      name: isCounted ? name : uncounted(name),
      about: isCounted ? about : 'the same request and answer after one timer; nothing is counted',
      worker: isCounted ? 'product' : 'uncounted',
      connections: CONNECTIONS,
      settings: { COUNTERS },
      counts: isCounted ? 'slotted_counters' : null,
      ...(!isCounted && { prepare: waitAsLong(one) }),
    }),
    axes: { request: name, way: isCounted ? 'counted' : 'waits as long' },
  }))
})

/** One counter that everybody increments, compared with the same requests that only wait. */
export const hotKey: Topic = {
  name: 'hot-key',
  title: 'How much does counting cost?',
  text:
    `${CONNECTIONS} connections count one key. The baseline is the same request to a Worker that reads and checks it, waits equally long on one timer, and gives the same ` +
    'answer, but counts nothing. Requests/s depend on all programs, which share the CPUs; CPU time is the Worker’s alone.',
  missed:
    'Requests/s: the database and its endpoint share the CPUs with the Worker, and the baseline needs neither. CPU time: see the [notes](notes.md#hits).',
  variants,
  seconds: 2,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros'],
  comparisons: REQUESTS.flatMap(({ name }) => [
    {
      label: `requests/s: ${name}`,
      figure: 'perSecond',
      of: name,
      to: uncounted(name),
      target: { atLeast: 0.92 },
    },
    {
      label: `CPU per request: ${name}`,
      figure: 'cpuMicros',
      of: name,
      to: uncounted(name),
      target: { atMost: 1.2 },
    },
  ]),
  charts: ({ runs }) => [
    barChart({
      name: 'hot-key',
      alt: 'Requests per second, when counting and when only waiting as long',
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
