import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { startWorkerd } from '../../../local/worker/workerd.ts'
import { httpVariant } from '../../harness/http-variant.ts'
import type { Testbed, WorkerName } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
const HIT_QUERY = '?type=page_view&key=%2Fblog%2Fhello'
/** A path that neither Worker serves. A response there means that the settings were read; it needs no database. */
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
    about: 'counts, and responds after the commit',
    worker: 'product',
    path: `/hit${HIT_QUERY}`,
    counts: 'slotted_counters',
    connections: CONNECTIONS,
    keys: 0,
  }),
  httpVariant({
    name: NOTHING,
    title: 'no-op, same Worker',
    about: 'a no-op route of the same Worker, behind its middleware',
    worker: 'product',
    path: `/bench/nothing${HIT_QUERY}`,
    counts: null,
    connections: CONNECTIONS,
    keys: 0,
  }),
  httpVariant({
    name: EMPTY,
    title: 'empty Worker',
    about: 'a Worker that responds with 204 to everything, without Hono',
    worker: 'empty',
    path: `/${HIT_QUERY}`,
    counts: null,
    connections: CONNECTIONS,
    keys: 0,
  }),
].map((variant) => ({ ...variant, axes: { way: variant.title ?? variant.name } }))

/** Starts a Worker and polls until it responds. */
async function start(testbed: Testbed, worker: WorkerName): Promise<Outcome> {
  const script = await testbed.scriptOf(worker)
  const text = await readFile(script)
  const directory = await testbed.newDirectory()
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
    [START, 'product', 'product', 'the Worker, including its no-op routes'],
    [START_EMPTY, 'empty Worker', 'empty', 'a Worker that responds with 204 to everything'],
  ] as const
).map(([name, title, worker, about]) => ({
  name,
  title,
  about,
  axes: { way: title },
  measure: (testbed: Testbed) => start(testbed, worker),
}))

/** The cost of the Worker itself. */
export const worker: Topic = {
  name: 'worker',
  title: 'How much does the Worker itself cost?',
  text:
    `CPU time is that of workerd, with ${CONNECTIONS} connections and one key. Start-up is the time until the first response on a path that needs no database; only the difference is ` +
    'meaningful. The size is that of the deployed module.',
  variants: [...cpu, ...starting],
  columns: ['cpuMicros', 'perSecond', 'p50Ms', 'startMs', 'kilobytes', 'gzipKilobytes'],
  comparisons: [
    {
      label: 'CPU µs: hit minus no-op, same Worker',
      figure: 'cpuMicros',
      of: HIT,
      to: NOTHING,
      as: 'difference',
    },
    {
      label: 'CPU µs: hit minus empty Worker',
      figure: 'cpuMicros',
      of: HIT,
      to: EMPTY,
      as: 'difference',
    },
    {
      label: 'ms to first response: product minus empty Worker',
      figure: 'startMs',
      of: START,
      to: START_EMPTY,
      as: 'difference',
      target: { atMost: 10 },
    },
    {
      label: 'kB gzipped',
      figure: 'gzipKilobytes',
      of: START,
      target: { atMost: 60 },
    },
  ],
  charts: ({ runs }) => [
    barChart({
      name: 'worker-cpu',
      alt: 'CPU time per request',
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
      `A hit takes ${rounded(hit)} µs of CPU time, of which the runtime takes ${rounded(empty)} µs for any request. The free plan allows 10 ms.`,
      `The module is ${rounded(medianOf(runs, START, 'gzipKilobytes'))} kB gzipped. After a cold start, it answers ${rounded(extra)} ms later than an empty Worker.`,
    ]
  },
}
