import { httpVariant } from '../harness/http-variant.ts'
import { lineChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Topic } from '../topic.ts'
import { GROUP_COMMIT, ONE_ROW, published, SLOT_PER_WRITER, type Writer } from './writers.ts'

const CONNECTIONS = 64
const COMMITS = [0, 2, 5]
const NETWORKS = [0, 10]
/** Those that queue for each other's locks: it takes a while until the queue has its length. */
const QUEUEING = [ONE_ROW, published(100)]
const WRITERS = [...QUEUEING, SLOT_PER_WRITER, GROUP_COMMIT]

const named = ({ name }: Writer, commitMs: number, latencyMs: number) =>
  `${name}, ${commitMs} ms commit, ${latencyMs} ms network`

const variants = NETWORKS.flatMap((latencyMs) =>
  // The network alone is no lock: it only has to be there beside the others.
  COMMITS.filter((commitMs) => latencyMs === 0 || commitMs > 0).flatMap((commitMs) =>
    WRITERS.map((writer) =>
      httpVariant({
        ...writer,
        name: named(writer, commitMs, latencyMs),
        table: `${latencyMs} ms of network`,
        connections: CONNECTIONS,
        behaviour: { commitMs, latencyMs },
        rampSeconds: QUEUEING.includes(writer) ? 1 : 0,
        axes: { writer: writer.name, commitMs, network: `${latencyMs} ms of network` },
      }),
    ),
  ),
)

/** What the latency of commits and of the network does to writers of one counter. */
export const contentionLatency: Topic = {
  name: 'contention-latency',
  title: 'What does the latency of commits do to a counter that everybody increments?',
  text:
    `As \`contention\`, with ${CONNECTIONS} connections, on the first server with its own isolation level. A commit takes ${COMMITS.join(', ')} ms with its row ` +
    `locks held, as replicated storage takes; the network between Worker and database ${NETWORKS.join(' or ')} ms, without any locks. Where writers ` +
    'queue for locks, a second until the queue has its length is left out.',
  seconds: 1,
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'lockWaitsPer1000', 'deadlocksPer1000', 'statementsPer1000'],
  comparisons: [],
  charts({ runs }) {
    return [
      lineChart({
        name: 'contention-latency',
        alt: 'Answered requests per second of one key by the time that a commit takes',
        points: pointsOf(variants, runs, 'perSecond'),
        series: { field: 'writer', title: 'counted in' },
        facet: { field: 'network', title: '' },
        x: { field: 'commitMs', title: 'commit, ms', values: COMMITS },
        y: { title: 'answered/s', log: true },
      }),
    ]
  },
  findings({ runs }) {
    const rate = (writer: Writer, commitMs: number) => medianOf(runs, named(writer, commitMs, 0), 'perSecond')
    return [
      `A row is written at most once per commit: with commits of 5 ms one row takes ${about(rate(ONE_ROW, 5))} hits/s, whatever the machine, and a slot ` +
        `per writer ${about(rate(SLOT_PER_WRITER, 5))}.`,
      `If your database replicates before it confirms, use slots from a few hundred writes/s of one counter on, or group commit, which still takes ` +
        `${about(rate(GROUP_COMMIT, 5))}.`,
    ]
  },
}
