import { httpVariant } from '../harness/http-variant.ts'
import type { Topic } from '../topic.ts'

const CONNECTIONS = 256
const KEYS = 10_000

const GROUP = 'group commit'
const EACH = 'one statement per request'

/** Nothing to merge: hits spread over many keys. */
export const manyKeys: Topic = {
  name: 'many-keys',
  title: 'And with many keys?',
  text:
    `${CONNECTIONS} connections count ${KEYS.toLocaleString('en-US')} keys, uniformly at random, which leaves group commit ` +
    'little to add up: what it saves is statements. No latency is added. Against a Worker that sends the same statement for ' +
    'each request, each with a slot of its own from the same kind of pool.',
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
      about: 'the same batch statement with one increment in it',
      worker: 'bare',
      path: '/batch',
      connections: CONNECTIONS,
      keys: KEYS,
      counts: 'slotted_counters',
    }),
  ],
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros'],
  comparisons: [
    { says: `answered/s: ${GROUP} against ${EACH}`, figure: 'perSecond', of: GROUP, to: EACH, target: { atLeast: 3 } },
    { says: `database statements per 1,000 requests: ${GROUP}`, figure: 'statementsPer1000', of: GROUP },
  ],
}
