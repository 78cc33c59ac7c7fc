import { httpVariant } from '../harness/http-variant.ts'
import { barChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Comparison, Topic, Variant } from '../topic.ts'

const BEHAVIOUR = { commitMs: 2, latencyMs: 5 }
const CONNECTIONS = [256, 1_024]
const RAMP_SECONDS = 1

const group = (connections: number) => `group commit, ${connections} connections`
const bodiless = (connections: number) => `group commit without a body, ${connections} connections`
const oneRow = (connections: number) => `one row, ${connections} connections`
const published = (connections: number) => `published pattern, ${connections} connections`

const variants: Variant[] = CONNECTIONS.flatMap((connections) => {
  const common = { connections, behaviour: BEHAVIOUR, rampSeconds: RAMP_SECONDS }
  return [
    httpVariant({
      ...common,
      name: group(connections),
      about: 'POST /hit',
      worker: 'product',
      path: '/hit',
      counts: 'slotted_counters',
    }),
    httpVariant({
      ...common,
      name: bodiless(connections),
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
      worker: 'bare',
      path: '/one-row',
      counts: 'one_row_counters',
    }),
    httpVariant({
      ...common,
      name: published(connections),
      about: '100 slots in the published tables, one statement per request',
      worker: 'bare',
      path: '/published',
      counts: 'published_slotted_counters',
    }),
  ]
}).map((variant) => {
  const [way, connections] = variant.name.split(', ') as [string, string]
  return { ...variant, axes: { way, connections } }
})

/** The hot key on a database as far away as databases are, against what else can be done there. */
export const latency: Topic = {
  name: 'latency',
  title: 'And with the latency of a real database?',
  text:
    `As above, with ${BEHAVIOUR.latencyMs} ms of network between Worker and database, and commits that take ` +
    `${BEHAVIOUR.commitMs} ms with their locks held, as replicated storage takes. \`POST /hit\` against two Workers that ` +
    'send one statement per request through the same driver: one row per counter, and the slotted counter pattern as it was ' +
    'published (auto-increment id, unique key over type, id and slot, `RAND() * 100` slots). The endpoint has 100 connections to the database. ' +
    'Deadlocks are tried again, which shows in the statements. The first second of each run, until queues have their length, is left out.',
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000'],
  comparisons: CONNECTIONS.flatMap((connections): Comparison[] => [
    {
      says: `answered/s at ${connections} connections: group commit without a body against one row`,
      figure: 'perSecond',
      of: bodiless(connections),
      to: oneRow(connections),
      target: { atLeast: 40 },
    },
    {
      says: `answered/s at ${connections} connections: group commit against one row`,
      figure: 'perSecond',
      of: group(connections),
      to: oneRow(connections),
      target: { atLeast: 40 },
    },
    {
      says: `answered/s at ${connections} connections: group commit against the published pattern`,
      figure: 'perSecond',
      of: group(connections),
      to: published(connections),
      target: { atLeast: 4 },
    },
  ]),
  charts: ({ runs }) => [
    barChart({
      name: 'latency',
      alt: 'Answered requests per second with the latency of a real database',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'connections', title: '' },
      category: 'way',
      y: { title: 'answered/s', log: true },
    }),
  ],
  findings({ runs }) {
    const rate = (variant: string) => about(medianOf(runs, variant, 'perSecond'))
    const [few, many] = CONNECTIONS as [number, number]
    return [
      `With commits of ${BEHAVIOUR.commitMs} ms a row takes ${rate(oneRow(few))} hits/s however many wait for it; one isolate with group commit takes ${rate(bodiless(few))} from ${few} ` +
        `connections and ${rate(bodiless(many))} from ${many}.`,
    ]
  },
}
