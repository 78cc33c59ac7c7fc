import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { httpVariant } from '../../harness/http-variant.ts'
import type { Variant } from '../../harness/variant.ts'
import { judge } from '../../report/comparison.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { EMPTY as START_EMPTY, startOf, startOfEmpty } from '../idle/cold-start.ts'

const CONNECTIONS = 256
const HIT_QUERY = '?type=page_view&key=%2Fblog%2Fhello'

const HIT = 'POST /hit?…'
const EMPTY = 'nothing, empty Worker'
const START = 'start-up, the product'

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

const start = startOf(START, 'product', 'deployed', 'the Worker')

/** The start of the product, and the size of its module. */
const starting: Variant = {
  ...start,
  async measure(testbed, round, seconds) {
    const text = await readFile(await testbed.scriptOf('deployed'))
    const { figures, violations } = await start.measure(testbed, round, seconds)
    const size = { kilobytes: text.length / 1_000, gzipKilobytes: gzipSync(text).length / 1_000 }
    return { figures: { ...figures, ...size }, violations }
  },
}

/** The cost of the Worker itself. */
export const worker: Topic = {
  name: 'worker',
  title: 'How much does the Worker itself cost?',
  text:
    `CPU time is that of workerd, with ${CONNECTIONS} connections and one key. ` +
    'Start-up lasts until the first response on a path that needs no database.',
  missed:
    'Features made the module larger. Below 100 kB, the pages would have to be a Worker of their own, which owners would deploy as well ' +
    '([notes](notes.md#size-and-start-up)).',
  variants: [...cpu, starting, startOfEmpty],
  columns: ['cpuMicros', 'perSecond', 'p50Ms', 'startMs', 'cpuMs', 'kilobytes', 'gzipKilobytes'],
  comparisons: [
    {
      label: 'ms to first response: product minus empty Worker',
      figure: 'startMs',
      of: START,
      to: START_EMPTY,
      as: 'difference',
      target: { atMost: 25 },
    },
    {
      label: 'kB gzipped',
      figure: 'gzipKilobytes',
      of: START,
      target: { atMost: 100 },
    },
  ],
  findings({ runs }) {
    const [hit, empty] = [medianOf(runs, HIT, 'cpuMicros'), medianOf(runs, EMPTY, 'cpuMicros')]
    const extra = judge({ label: '', figure: 'startMs', of: START, to: START_EMPTY, as: 'difference' }, runs).median
    return [
      `A hit takes ${rounded(hit)} µs of CPU time, of which the runtime takes ${rounded(empty)} µs for any request. The free plan allows 10 ms.`,
      `The module is ${rounded(medianOf(runs, START, 'gzipKilobytes'))} kB gzipped. Its first response comes ${rounded(extra)} ms later than that of an empty Worker.`,
    ]
  },
}
