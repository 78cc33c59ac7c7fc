import { httpVariant } from '../../harness/http-variant.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
const KEYS = 10_000

const GROUP = 'group commit'
const EACH = 'one statement per request'

/** Hits spread over so many keys that there is little to merge. */
export const manyKeys: Topic = {
  name: 'many-keys',
  title: 'And with many keys?',
  text:
    `${CONNECTIONS} connections count ${KEYS.toLocaleString('en-US')} keys, chosen uniformly at random. Group commit then merges few rows, ` +
    'but still saves statements. No latency is added. The baseline is a route that sends the same statement for ' +
    'each request, with a slot from the same kind of pool.',
  variants: [
    httpVariant({
      name: GROUP,
      about: 'POST /hit',
      worker: 'product',
      path: '/hit',
      connections: CONNECTIONS,
      keys: KEYS,
      counts: 'slotted_counters',
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
      label: `requests/s: ${GROUP} relative to ${EACH}`,
      figure: 'perSecond',
      of: GROUP,
      to: EACH,
      target: { atLeast: 6 },
    },
    { label: `database statements per 1,000 requests: ${GROUP}`, figure: 'statementsPer1000', of: GROUP },
  ],
}
