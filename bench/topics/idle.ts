import { httpVariant } from '../harness/http-variant.ts'
import type { Topic } from '../topic.ts'

const HIT = 'POST /hit'
const STATEMENT = 'one statement'

/** What a single hit waits, when there is nobody to share a statement with. */
export const idle: Topic = {
  name: 'idle',
  title: 'What does a single hit wait for?',
  text:
    'One connection, one hit after the other, of a key that is known. No latency is added. What `POST /hit` takes beyond a route ' +
    'that does nothing but send the same statement and answer: reading and checking the body, and whatever group commit waits for.',
  variants: [
    httpVariant({
      name: HIT,
      about: 'counts and answers after the commit',
      worker: 'product',
      path: '/hit',
      connections: 1,
      counts: 'slotted_counters',
    }),
    httpVariant({
      name: STATEMENT,
      about: 'exactly one such statement in a Hono app without middlewares; the body is not read',
      worker: 'bare',
      path: '/statement',
      connections: 1,
      counts: 'slotted_counters',
    }),
  ],
  columns: ['p50Ms', 'p99Ms', 'perSecond', 'statementsPer1000', 'cpuMicros'],
  comparisons: [
    {
      says: `median ms: ${HIT} beyond ${STATEMENT}`,
      figure: 'p50Ms',
      of: HIT,
      to: STATEMENT,
      as: 'difference',
      target: { atMost: 1 },
    },
  ],
}
