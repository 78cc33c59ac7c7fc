import { httpVariant } from '../../harness/http-variant.ts'
import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { GROUP_COMMIT, ONE_ROW, published, SLOT_PER_WRITER, type WriteStrategy } from '../write-strategies.ts'

const CONNECTIONS = 64
const COMMITS = [0, 2, 5]
const NETWORKS = [0, 10]
/** Strategies whose writers queue for locks. It takes a while until the queue reaches its steady length. */
const QUEUEING = [ONE_ROW, published(100)]
const STRATEGIES = [...QUEUEING, SLOT_PER_WRITER, GROUP_COMMIT]

const named = ({ name }: WriteStrategy, commitMs: number, latencyMs: number) =>
  `${name}, ${commitMs} ms commit, ${latencyMs} ms network`

const variants = NETWORKS.flatMap((latencyMs) =>
  // Network latency alone holds no locks, so it is only combined with slow commits.
  COMMITS.filter((commitMs) => latencyMs === 0 || commitMs > 0).flatMap((commitMs) =>
    STRATEGIES.map((writer) =>
      httpVariant({
        ...writer,
        name: named(writer, commitMs, latencyMs),
        connections: CONNECTIONS,
        behaviour: { commitMs, latencyMs },
        rampSeconds: QUEUEING.includes(writer) ? 1 : 0,
        axes: { writer: writer.name, commitMs, network: `network latency ${latencyMs} ms` },
      }),
    ),
  ),
)

/** How commit latency and network latency affect writers of one counter. */
export const contentionLatency: Topic = {
  name: 'contention-latency',
  title: 'How does commit latency affect a counter that everybody increments?',
  text:
    `As \`contention\`, with ${CONNECTIONS} connections. A commit takes ${COMMITS.join(', ')} ms and holds its row locks, as on replicated storage. The network latency of ` +
    `${NETWORKS.join(' or ')} ms holds none. Where writers queue for locks, the first second, in which the queue builds up, is left out.`,
  seconds: 1,
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'lockWaitsPer1000', 'deadlocksPer1000', 'statementsPer1000'],
  comparisons: [],
  charts({ runs }) {
    return [
      lineChart({
        name: 'contention-latency',
        alt: 'Requests per second for one key by commit latency',
        points: pointsOf(variants, runs, 'perSecond'),
        series: { field: 'writer', title: 'stored in' },
        facet: { field: 'network', title: '' },
        x: { field: 'commitMs', title: 'commit latency, ms', values: COMMITS },
        y: { title: 'requests/s', log: true },
      }),
    ]
  },
  findings({ runs }) {
    const rate = (writer: WriteStrategy, commitMs: number) => medianOf(runs, named(writer, commitMs, 0), 'perSecond')
    return [
      `Writers of one row commit one after another: with commits of 5 ms, one row takes ${rounded(rate(ONE_ROW, 5))} hits/s on any machine. With a slot ` +
        `per writer, it is ${rounded(rate(SLOT_PER_WRITER, 5))}.`,
      'If your database replicates before it confirms a commit, use slots or group commit above a few hundred writes/s. Group commit takes ' +
        `${rounded(rate(GROUP_COMMIT, 5))} hits/s.`,
    ]
  },
}
