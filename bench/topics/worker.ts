import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { startWorkerd } from '../../local/workerd.ts'
import { httpVariant } from '../harness/http-variant.ts'
import type { Rig, WorkerName } from '../harness/rig.ts'
import { barChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Outcome, Topic, Variant } from '../topic.ts'

const CONNECTIONS = 256
const SAID = '?type=page_view&key=%2Fblog%2Fhello'
/** A path that neither Worker serves: what answers there has read its settings, and asked nobody. */
const PROBE = '/bench/is-it-there'
const POLL_MS = 1

const HIT = 'POST /hit?…'
const NOTHING = 'nothing, same Worker'
const EMPTY = 'nothing, empty Worker'
const START = 'start-up, the product'
const START_EMPTY = 'start-up, empty Worker'

const cpu: Variant[] = [
  httpVariant({
    name: HIT,
    about: 'counts and answers after the commit',
    worker: 'product',
    path: `/hit${SAID}`,
    counts: 'slotted_counters',
    table: 'CPU',
    connections: CONNECTIONS,
    keys: 0,
  }),
  httpVariant({
    name: NOTHING,
    about: 'a route of the same Worker that does nothing, behind its middlewares',
    worker: 'product',
    path: `/bench/nothing${SAID}`,
    counts: null,
    table: 'CPU',
    connections: CONNECTIONS,
    keys: 0,
  }),
  httpVariant({
    name: EMPTY,
    about: 'a Worker that answers 204 to everything, without Hono',
    worker: 'nothing',
    path: `/${SAID}`,
    counts: null,
    table: 'CPU',
    connections: CONNECTIONS,
    keys: 0,
  }),
].map((variant) => ({ ...variant, axes: { way: variant.name } }))

/** Starts a Worker and asks until it answers. */
async function start(rig: Rig, worker: WorkerName): Promise<Outcome> {
  const script = await rig.scriptOf(worker)
  const text = await readFile(script)
  const directory = await rig.newDirectory()
  const databaseUrl = 'http://nobody:nothing@127.0.0.1:9'
  const began = performance.now()
  const workerd = await startWorkerd({
    script,
    directory,
    databaseUrl,
    apiToken: 'bench',
    probe: PROBE,
    pollMs: POLL_MS,
  })
  const startMs = performance.now() - began
  await workerd.stop()
  return {
    figures: { startMs, kilobytes: text.length / 1_000, gzipKilobytes: gzipSync(text).length / 1_000 },
    violations: [],
  }
}

const starting: Variant[] = (
  [
    [START, 'product', 'the Worker, and the routes that it is compared with'],
    [START_EMPTY, 'nothing', 'a Worker that answers 204 to everything'],
  ] as const
).map(([name, worker, about]) => ({
  name,
  about,
  table: 'Start-up and size',
  axes: { way: name },
  measure: (rig: Rig) => start(rig, worker),
}))

/** What the Worker itself costs. */
export const worker: Topic = {
  name: 'worker',
  title: 'What does the Worker itself cost?',
  text:
    `CPU is workerd’s, by the system’s clock, ${CONNECTIONS} connections, one key, no latency added. Start-up is the time from starting workerd, its supervising process included, to the first answer, on a path that ` +
    'asks no database: what counts is the difference. The size is that of the module as it is deployed, not minified, and gzipped. Where the time of a hit goes is in `profile`.',
  variants: [...cpu, ...starting],
  columns: ['cpuMicros', 'perSecond', 'p50Ms', 'startMs', 'kilobytes', 'gzipKilobytes'],
  comparisons: [
    {
      says: 'CPU µs: a hit beyond doing nothing in the same Worker',
      figure: 'cpuMicros',
      of: HIT,
      to: NOTHING,
      as: 'difference',
    },
    {
      says: 'CPU µs: a hit beyond doing nothing in an empty Worker',
      figure: 'cpuMicros',
      of: HIT,
      to: EMPTY,
      as: 'difference',
    },
    {
      says: 'ms to the first answer beyond an empty Worker’s',
      figure: 'startMs',
      of: START,
      to: START_EMPTY,
      as: 'difference',
    },
    {
      says: 'kB gzipped (the platform allows 3,000 on the free plan)',
      figure: 'gzipKilobytes',
      of: START,
      target: { atMost: 3_000 },
    },
  ],
  charts: ({ runs }) => [
    barChart({
      name: 'worker-cpu',
      alt: 'CPU per request',
      points: pointsOf(cpu, runs, 'cpuMicros'),
      series: { field: 'way', title: '' },
      category: 'way',
      y: { title: 'CPU µs per request' },
    }),
  ],
  findings({ runs }) {
    const [hit, empty] = [medianOf(runs, HIT, 'cpuMicros'), medianOf(runs, EMPTY, 'cpuMicros')]
    const extra = medianOf(runs, START, 'startMs') - medianOf(runs, START_EMPTY, 'startMs')
    return [
      `A hit takes ${about(hit)} µs of CPU, ${about(empty)} µs of which the runtime takes for any request: the free plan’s 10 ms are never in sight, and a million hits are ${about(hit)} s.`,
      `The module has ${about(medianOf(runs, START, 'gzipKilobytes'))} kB gzipped and answers ${about(extra)} ms later than an empty one after a cold start.`,
    ]
  },
}
