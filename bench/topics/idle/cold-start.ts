import { startWorkerd, type WorkerdOptions } from '../../../local/worker/workerd.ts'
import { withDeployment } from '../../harness/deployment.ts'
import type { Figures } from '../../harness/figure-names.ts'
import { cpuMicros } from '../../harness/process-usage.ts'
import type { Testbed, WorkerName } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { median } from '../../report/medians.ts'

/** How often a Worker is started for a figure, which is the median. */
const STARTS = 5
const POLL_MS = 1
/** A path that no Worker serves. A response there means that the settings were read; it needs no database. */
const PROBE = '/bench/is-it-there'

export const EMPTY = 'start-up, empty Worker'

/** Starts a Worker a few times, each time until it responds to a path. */
async function timeStarts(
  options: Omit<WorkerdOptions, 'apiToken' | 'pollMs' | 'probe'>,
  probe: (start: number) => string,
): Promise<Figures> {
  const starts: { ms: number; cpu: number | null }[] = []
  for (let start = 0; start < STARTS; start++) {
    const began = performance.now()
    const workerd = await startWorkerd({ ...options, apiToken: 'bench', pollMs: POLL_MS, probe: probe(start) })
    starts.push({ ms: performance.now() - began, cpu: await cpuMicros(workerd.pid) })
    await workerd.stop()
  }
  const cpu = starts.map(({ cpu }) => cpu).filter((cpu) => cpu !== null)
  return { startMs: median(starts.map(({ ms }) => ms)), ...(cpu.length > 0 && { cpuMs: median(cpu) / 1_000 }) }
}

/** Starts a Worker whose first request needs no database. */
export const startOf = (name: string, title: string, worker: WorkerName, about: string): Variant => ({
  name,
  title,
  about,
  async measure(testbed) {
    const script = await testbed.scriptOf(worker)
    const directory = await testbed.newDirectory()
    const databaseUrl = 'http://nobody:nothing@127.0.0.1:9'
    return { figures: await timeStarts({ script, directory, databaseUrl }, () => PROBE), violations: [] }
  },
})

export const startOfEmpty = startOf(EMPTY, 'empty Worker', 'empty', 'a Worker that responds with 204 to everything')

/** The first requests of an isolate. */
export const FIRST = {
  known: { name: 'hit, known key', path: () => '/hit.gif?type=page_view&key=known', counts: STARTS },
  new: { name: 'hit, new key', path: (start: number) => `/hit.gif?type=page_view&key=new-${start}`, counts: STARTS },
  number: { name: 'number on a page', path: () => '/v1/shown?of=page_view+known', counts: 0 },
} as const

/** Milliseconds of a round trip to the database. */
export const DISTANCES = [1, 10, 50] as const

export const firstName = (request: keyof typeof FIRST, distance: number) =>
  `cold: ${FIRST[request].name}, ${distance} ms away`

// Node.js, which sends the requests, is a bot.
const COUNTERS = { page_view: { record_type: 1, public: true, allowed_origins: ['*'], count_bots: true } }

/** Starts Workers whose first request reaches a distant database. */
function startWith(testbed: Testbed, request: keyof typeof FIRST, distance: number): Promise<Outcome> {
  const options = { worker: 'deployed', settings: { COUNTERS }, behaviour: { latencyMs: distance } } as const
  return withDeployment(testbed, options, async ({ url, directory, databaseUrl, statements, sum }) => {
    await fetch(url + FIRST.known.path())
    const before = await statements()
    const script = await testbed.scriptOf('deployed')
    const cold = { script, directory: `${directory}/cold`, databaseUrl, settings: { COUNTERS } }
    const figures = await timeStarts(cold, FIRST[request].path)
    const [counted, expected] = [await sum('slotted_counters'), 1 + FIRST[request].counts]
    return {
      figures: { ...figures, statements: ((await statements()) - before) / STARTS },
      violations: counted === expected ? [] : [`${counted} hits were counted, not ${expected}`],
    }
  })
}

export const firstRequests = (Object.keys(FIRST) as (keyof typeof FIRST)[]).flatMap((request) =>
  DISTANCES.map(
    (distance): Variant => ({
      name: firstName(request, distance),
      about: 'the first request of an isolate',
      measure: (testbed) => startWith(testbed, request, distance),
    }),
  ),
)
