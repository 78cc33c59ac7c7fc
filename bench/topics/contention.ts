import type { IsolationLevel } from '../../local/planetscale/branch.ts'
import { httpVariant } from '../harness/http-variant.ts'
import { lineChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Topic, Variant } from '../topic.ts'
import { GROUP_COMMIT, ONE_ROW, ownKey, published, SLOT_PER_WRITER, type Writer } from './writers.ts'

const CONNECTIONS = [1, 8, 64, 512]
/** Beside the usual number, which is in the first table. */
const SLOTS = [1, 4, 16, 1_000]
const USUAL_CONNECTIONS = 64
const USUAL_SLOTS = 100
const WRITERS = [ONE_ROW, published(USUAL_SLOTS), SLOT_PER_WRITER, GROUP_COMMIT]
/** All but MySQL at its own level, which is what the first table is about. */
const PLACES: { server: 'mysql' | 'mariadb'; isolation: IsolationLevel }[] = [
  { server: 'mysql', isolation: 'READ COMMITTED' },
  { server: 'mariadb', isolation: 'REPEATABLE READ' },
  { server: 'mariadb', isolation: 'READ COMMITTED' },
]
const PRODUCTS = { mysql: 'MySQL', mariadb: 'MariaDB' }

const at = ({ name }: Writer, connections: number) => `${name}, ${connections} connections`
const slotted = (slots: number) => `${published(slots).name}, by number of slots`
const place = ({ server, isolation }: (typeof PLACES)[number]) => `${PRODUCTS[server]}, ${isolation}`
const there = ({ name }: Writer, where: (typeof PLACES)[number]) => `${name}: ${place(where)}`

const byConnections = CONNECTIONS.flatMap((connections) =>
  [...WRITERS, ...(connections === USUAL_CONNECTIONS ? [ownKey(USUAL_SLOTS)] : [])].map((writer) =>
    httpVariant({
      ...writer,
      name: at(writer, connections),
      table: 'By number of connections',
      connections,
      // Where hundreds queue for one row, it takes a while until the queue has its length.
      ...(connections > USUAL_CONNECTIONS && { rampSeconds: 1, leastSeconds: 2 }),
      axes: { writer: writer.name, connections },
    }),
  ),
)

const bySlots = SLOTS.map((slots) =>
  httpVariant({
    ...published(slots),
    name: slotted(slots),
    table: `By number of slots, ${USUAL_CONNECTIONS} connections`,
    connections: USUAL_CONNECTIONS,
    axes: { slots },
  }),
)

const byPlace = PLACES.flatMap((where) =>
  [ONE_ROW, published(USUAL_SLOTS), GROUP_COMMIT].map((writer) =>
    httpVariant({
      ...writer,
      ...where,
      name: there(writer, where),
      table: `By server and isolation level, ${USUAL_CONNECTIONS} connections`,
      connections: USUAL_CONNECTIONS,
      axes: { writer: writer.name, place: place(where) },
    }),
  ),
)

const variants: Variant[] = [...byConnections, ...bySlots, ...byPlace]

/** What writers of one counter do to each other. */
export const contention: Topic = {
  name: 'contention',
  title: 'What does a counter that everybody increments cost, and do slots help?',
  text:
    `One key. The number of connections varies in the first table (${CONNECTIONS.join(', ')}), the number of slots in the second (${USUAL_SLOTS} stand in the first), server and ` +
    `isolation level in the third; where it does not vary, there are ${USUAL_CONNECTIONS} connections, ${USUAL_SLOTS} slots, and the first server with its ` +
    'own isolation level. No latency is added: `contention-latency` varies that. All but group commit send one statement per request; a deadlock is tried ' +
    'again, which shows in the statements. Lock waits and deadlocks are the server’s own counters. An id is burnt by every ' +
    'upsert that finds its row: the published `id INT` runs out after 2³¹ hits, and then every write fails.',
  seconds: 1,
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'lockWaitsPer1000', 'deadlocksPer1000', 'idsPer1000', 'statementsPer1000'],
  comparisons: [
    {
      says: `answered/s at ${USUAL_CONNECTIONS} connections: the published pattern against one row`,
      figure: 'perSecond',
      of: at(published(USUAL_SLOTS), USUAL_CONNECTIONS),
      to: at(ONE_ROW, USUAL_CONNECTIONS),
    },
    {
      says: `answered/s at ${USUAL_CONNECTIONS} connections: our primary key against the published one`,
      figure: 'perSecond',
      of: at(ownKey(USUAL_SLOTS), USUAL_CONNECTIONS),
      to: at(published(USUAL_SLOTS), USUAL_CONNECTIONS),
    },
    {
      says: `answered/s at ${USUAL_CONNECTIONS} connections: group commit against the best of one statement per request`,
      figure: 'perSecond',
      of: at(GROUP_COMMIT, USUAL_CONNECTIONS),
      to: at(SLOT_PER_WRITER, USUAL_CONNECTIONS),
    },
  ],
  charts({ runs }) {
    const series = { field: 'writer', title: 'counted in' }
    return [
      lineChart({
        name: 'contention-connections',
        alt: 'Answered requests per second of one key by number of connections',
        points: pointsOf(byConnections, runs, 'perSecond'),
        series,
        x: { field: 'connections', title: 'connections', log: true, values: CONNECTIONS },
        y: { title: 'answered/s', log: true },
      }),
      lineChart({
        name: 'contention-p99',
        alt: '99th percentile of the time to an answer by number of connections',
        points: pointsOf(byConnections, runs, 'p99Ms'),
        series,
        x: { field: 'connections', title: 'connections', log: true, values: CONNECTIONS },
        y: { title: '99th percentile, ms', log: true },
      }),
    ]
  },
  findings({ runs }) {
    const rate = (writer: Writer) => medianOf(runs, at(writer, USUAL_CONNECTIONS), 'perSecond')
    const waits = (writer: Writer) => medianOf(runs, at(writer, USUAL_CONNECTIONS), 'lockWaitsPer1000')
    const [one, slots, key] = [ONE_ROW, published(USUAL_SLOTS), ownKey(USUAL_SLOTS)]
    const best = rate(GROUP_COMMIT)
    return [
      `Give a slot table the primary key (type, id, slot) and nothing else: at ${USUAL_CONNECTIONS} connections the published schema answers ` +
        `${about(rate(slots))} requests/s with ${about(waits(slots))} lock waits per 1,000, where one row answers ${about(rate(one))} and our key ` +
        `${about(rate(key))} with ${about(waits(key))}.`,
      `Where many requests meet in one process, merge them before you slot them: group commit answers ${about(best)} requests/s, ` +
        `${about(best / rate(SLOT_PER_WRITER))} times as many as the best that sends a statement for each.`,
    ]
  },
}
