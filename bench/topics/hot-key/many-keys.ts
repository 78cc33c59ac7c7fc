import { coverReads } from '../../harness/create-tables.ts'
import { type HttpVariant, httpVariant } from '../../harness/http-variant.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
const KEYS = 10_000

const GROUP = 'group commit'
const EACH = 'one statement per request'
const COVERING = 'group commit, covering index'

const group: HttpVariant = {
  name: GROUP,
  about: 'POST /hit',
  worker: 'product',
  path: '/hit',
  connections: CONNECTIONS,
  keys: KEYS,
  counts: 'slotted_counters',
}

/** Hits spread over so many keys that there is little to merge. */
export const manyKeys: Topic = {
  name: 'many-keys',
  title: 'And with many keys?',
  text: `${CONNECTIONS} connections count ${KEYS.toLocaleString('en-US')} random keys. The baseline sends one statement per request.`,
  missed:
    'Group commit reduces statements, not rows, and the isolate’s thread is busy all the time ([notes](notes.md#group-commit)).',
  variants: [
    httpVariant(group),
    httpVariant({
      ...group,
      name: COVERING,
      about: 'the same with `count` in the index of pending slots',
      prepare: coverReads,
    }),
    httpVariant({
      name: EACH,
      about: 'the same statement with a single increment',
      worker: 'baselines',
      path: '/batch',
      connections: CONNECTIONS,
      keys: KEYS,
      counts: 'slotted_counters',
    }),
  ],
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros'],
  comparisons: [
    {
      label: `requests/s: ${GROUP} vs. ${EACH}`,
      figure: 'perSecond',
      of: GROUP,
      to: EACH,
      target: { atLeast: 3.5 },
    },
    { label: 'requests/s: with a covering index vs. without', figure: 'perSecond', of: COVERING, to: GROUP },
  ],
}
