import { httpVariant } from '../../harness/http-variant.ts'
import type { Topic } from '../../report/topic.ts'

const HIT = 'POST /hit'
const STATEMENT = 'one statement'

/** The latency of a single hit that shares its statement with no other. */
export const idle: Topic = {
  name: 'idle',
  title: 'How long does a single hit take?',
  text: 'One connection sends one hit after another for a known key. The baseline sends only the statement, from a Hono app without middleware.',
  variants: [
    httpVariant({
      name: HIT,
      about: 'counts, and responds after the commit',
      worker: 'product',
      path: '/hit',
      connections: 1,
      counts: 'slotted_counters',
    }),
    httpVariant({
      name: STATEMENT,
      about: 'the same statement in a Hono app without middleware; the body is not read',
      worker: 'baselines',
      path: '/statement',
      connections: 1,
      counts: 'slotted_counters',
    }),
  ],
  columns: ['p50Ms', 'p99Ms', 'perSecond', 'statementsPer1000', 'cpuMicros'],
  comparisons: [
    {
      label: `median ms: ${HIT} minus ${STATEMENT}`,
      figure: 'p50Ms',
      of: HIT,
      to: STATEMENT,
      as: 'difference',
      target: { atMost: 1 },
    },
  ],
}
