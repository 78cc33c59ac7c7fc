import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { startWorkerd, type WorkerdOptions } from '../../../local/worker/workerd.ts'
import { withDeployment } from '../../harness/deployment.ts'
import type { Figures } from '../../harness/figure-names.ts'
import { httpVariant } from '../../harness/http-variant.ts'
import { cpuMicros } from '../../harness/process-usage.ts'
import type { Testbed, WorkerName } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import type { Comparison } from '../../report/comparison.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
const HIT_QUERY = '?type=page_view&key=%2Fblog%2Fhello'
/** A path that neither Worker serves. A response there means that the settings were read; it needs no database. */
const PROBE = '/bench/is-it-there'
const POLL_MS = 1

const HIT = 'POST /hit?…'
const EMPTY = 'nothing, empty Worker'
const START = 'start-up, the product'
const START_EMPTY = 'start-up, empty Worker'
const FIRST_HIT = 'first hit, known key'
const FIRST_HIT_NEW = 'first hit, new key'

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
    name: EMPTY,
    title: 'empty Worker',
    about: 'a Worker that responds with 204 to everything, without Hono',
    worker: 'empty',
    path: `/${HIT_QUERY}`,
    counts: null,
    connections: CONNECTIONS,
    keys: 0,
  }),
]

/** Starts a Worker and polls until it responds to a path. */
async function timeStart(options: Omit<WorkerdOptions, 'apiToken' | 'pollMs'>): Promise<Figures> {
  const began = performance.now()
  const workerd = await startWorkerd({ ...options, apiToken: 'bench', pollMs: POLL_MS })
  const startMs = performance.now() - began
  const cpu = await cpuMicros(workerd.pid)
  await workerd.stop()
  return { startMs, ...(cpu !== null && { cpuMs: cpu / 1_000 }) }
}

async function start(testbed: Testbed, worker: WorkerName): Promise<Outcome> {
  const script = await testbed.scriptOf(worker)
  const text = await readFile(script)
  const directory = await testbed.newDirectory()
  const figures = await timeStart({ script, directory, databaseUrl: 'http://nobody:nothing@127.0.0.1:9', probe: PROBE })
  const size = { kilobytes: text.length / 1_000, gzipKilobytes: gzipSync(text).length / 1_000 }
  return { figures: { ...figures, ...size }, violations: [] }
}

// Node.js, which sends the hit, is a bot.
const COUNTERS = { page_view: { record_type: 1, allowed_origins: ['*'], count_bots: true } }

/** Starts a Worker whose first request is a hit. */
function startWithHit(testbed: Testbed, key: 'known' | 'new'): Promise<Outcome> {
  return withDeployment(
    testbed,
    { worker: 'deployed', settings: { COUNTERS } },
    async ({ url, directory, databaseUrl, statements, sum }) => {
      const pixel = (key: string) => `/hit.gif?type=page_view&key=${key}`
      await fetch(url + pixel('known'))
      const before = await statements()
      const script = await testbed.scriptOf('deployed')
      const cold = { script, directory: `${directory}/cold`, databaseUrl, settings: { COUNTERS }, probe: pixel(key) }
      const figures = await timeStart(cold)
      const counted = await sum('slotted_counters')
      return {
        figures: { ...figures, statements: (await statements()) - before },
        violations: counted === 2 ? [] : [`${counted} hits were counted, not 2`],
      }
    },
  )
}

const starting: Variant[] = (
  [
    [START, 'product', 'deployed', 'the Worker'],
    [START_EMPTY, 'empty Worker', 'empty', 'a Worker that responds with 204 to everything'],
  ] as const
).map(([name, title, worker, about]) => ({
  name,
  title,
  about,
  measure: (testbed: Testbed) => start(testbed, worker),
}))

const firstHits: Variant[] = (
  [
    [FIRST_HIT, 'known', 'the first request of an isolate, for a key that another one has counted'],
    [FIRST_HIT_NEW, 'new', 'the same for a key that nobody has counted'],
  ] as const
).map(([name, key, about]) => ({
  name,
  about,
  measure: (testbed: Testbed) => startWithHit(testbed, key),
}))

/** What a first hit takes beyond starting an empty Worker. */
const ofFirstHits = firstHits.flatMap(({ name }): Comparison[] => [
  { label: `ms to ${name}, minus empty Worker`, figure: 'startMs', of: name, to: START_EMPTY, as: 'difference' },
  { label: `statements: ${name}`, figure: 'statements', of: name },
])

/** The cost of the Worker itself. */
export const worker: Topic = {
  name: 'worker',
  title: 'How much does the Worker itself cost?',
  text:
    `CPU time is that of workerd, with ${CONNECTIONS} connections and one key. ` +
    'Start-up lasts until the first response on a path that needs no database.',
  missed: 'Features made the module larger. The hit route alone is 51.9 kB ([notes](notes.md#size-and-start-up)).',
  variants: [...cpu, ...starting, ...firstHits],
  columns: ['cpuMicros', 'perSecond', 'p50Ms', 'startMs', 'cpuMs', 'statements', 'kilobytes', 'gzipKilobytes'],
  comparisons: [
    {
      label: 'ms to first response: product minus empty Worker',
      figure: 'startMs',
      of: START,
      to: START_EMPTY,
      as: 'difference',
      target: { atMost: 25 },
    },
    ...ofFirstHits,
    {
      label: 'kB gzipped',
      figure: 'gzipKilobytes',
      of: START,
      target: { atMost: 105 },
    },
  ],
  findings({ runs }) {
    const [hit, empty] = [medianOf(runs, HIT, 'cpuMicros'), medianOf(runs, EMPTY, 'cpuMicros')]
    const coldMs = medianOf(runs, FIRST_HIT, 'startMs') - medianOf(runs, START_EMPTY, 'startMs')
    const extra = medianOf(runs, START, 'startMs') - medianOf(runs, START_EMPTY, 'startMs')
    return [
      `A hit takes ${rounded(hit)} µs of CPU time, of which the runtime takes ${rounded(empty)} µs for any request. The free plan allows 10 ms.`,
      `The module is ${rounded(medianOf(runs, START, 'gzipKilobytes'))} kB gzipped. Its first response comes ${rounded(extra)} ms later than that of an empty Worker, and its first hit for a known key ${rounded(coldMs)} ms later.`,
    ]
  },
}
