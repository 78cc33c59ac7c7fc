import { httpVariant } from '../../harness/http-variant.ts'
import type { Variant } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import type { Comparison } from '../../report/comparison.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'

const BEHAVIOUR = { commitMs: 2, latencyMs: 5 }
const CONNECTIONS = [256, 1_024]
const RAMP_SECONDS = 1

const groupCommit = (connections: number) => `group commit without a body, ${connections} connections`
const oneRow = (connections: number) => `one row, ${connections} connections`
const published = (connections: number) => `published pattern, ${connections} connections`

const variants: Variant[] = CONNECTIONS.flatMap((connections) => {
  const common = { connections, behaviour: BEHAVIOUR, rampSeconds: RAMP_SECONDS }
  return [
    httpVariant({
      ...common,
      name: groupCommit(connections),
      about: 'POST /hit?…',
      worker: 'product',
      path: '/hit?type=page_view&key=%2Fblog%2Fhello',
      keys: 0,
      counts: 'slotted_counters',
    }),
    httpVariant({
      ...common,
      name: oneRow(connections),
      about: 'one row per counter, one statement per request',
      worker: 'baselines',
      path: '/one-row',
      counts: 'one_row_counters',
    }),
    httpVariant({
      ...common,
      name: published(connections),
      about: '100 slots in the published tables, one statement per request',
      worker: 'baselines',
      path: '/published',
      counts: 'published_slotted_counters',
    }),
  ]
}).map((variant) => {
  const [way, connections] = variant.name.split(', ') as [string, string]
  return { ...variant, axes: { way, connections } }
})

/** The hot key with realistic latency, compared with one statement per request. */
export const latency: Topic = {
  name: 'latency',
  title: 'And with the latency of a real database?',
  text:
    `The network adds ${BEHAVIOUR.latencyMs} ms, and a commit takes ${BEHAVIOUR.commitMs} ms while it holds its locks, as on replicated storage. Each baseline sends one ` +
    'statement per request: to one row per counter, or to the slotted counter pattern as published.',
  missed:
    'The limit is the two shared cores, not the database. With this latency, a route that does nothing answers 64 times as many requests as ' +
    'one row.',
  variants,
  seconds: 2,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000'],
  comparisons: CONNECTIONS.map(
    (connections): Comparison => ({
      label: `requests/s, ${connections} connections: group commit vs. one row`,
      figure: 'perSecond',
      of: groupCommit(connections),
      to: oneRow(connections),
      target: { atLeast: 35 },
    }),
  ),
  charts: ({ runs }) => [
    barChart({
      name: 'latency',
      alt: 'Requests per second with the latency of a real database',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'connections', title: '' },
      category: 'way',
      y: { title: 'requests/s', log: true },
    }),
  ],
  findings({ runs }) {
    const rate = (variant: string) => rounded(medianOf(runs, variant, 'perSecond'))
    const [few, many] = CONNECTIONS as [number, number]
    return [
      `Commits to one row take turns: ${rate(oneRow(few))} hits/s. Our group commit merges them: ${rate(groupCommit(few))} hits/s from ${few} connections and ` +
        `${rate(groupCommit(many))} from ${many.toLocaleString('en-US')}.`,
    ]
  },
}
