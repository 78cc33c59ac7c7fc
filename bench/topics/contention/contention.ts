import type { IsolationLevel } from '../../../local/planetscale/fault-injection.ts'
import { httpVariant } from '../../harness/http-variant.ts'
import type { Variant } from '../../harness/variant.ts'
import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { GROUP_COMMIT, ONE_ROW, ownKey, published, SLOT_PER_WRITER, type WriteStrategy } from '../write-strategies.ts'

const CONNECTIONS = [1, 8, 64, 512]
/** Other numbers of slots than the usual one, which is in the first table. */
const SLOTS = [1, 4, 16, 1_000]
const USUAL_CONNECTIONS = 64
const USUAL_SLOTS = 100
const STRATEGIES = [ONE_ROW, published(USUAL_SLOTS), SLOT_PER_WRITER, GROUP_COMMIT]
/** Besides MySQL at its default level, which is in the first table. */
const PLACES: { server: 'mysql' | 'mariadb'; isolation: IsolationLevel }[] = [
  { server: 'mysql', isolation: 'READ COMMITTED' },
  { server: 'mariadb', isolation: 'REPEATABLE READ' },
]
const PRODUCTS = { mysql: 'MySQL', mariadb: 'MariaDB' }

const at = ({ name }: WriteStrategy, connections: number) => `${name}, ${connections} connections`
const slotted = (slots: number) => `${published(slots).name}, by number of slots`
const place = ({ server, isolation }: (typeof PLACES)[number]) => `${PRODUCTS[server]}, ${isolation}`
const there = ({ name }: WriteStrategy, where: (typeof PLACES)[number]) => `${name}: ${place(where)}`

const byConnections = CONNECTIONS.flatMap((connections) =>
  [...STRATEGIES, ...(connections === USUAL_CONNECTIONS ? [ownKey(USUAL_SLOTS)] : [])].map((writer) =>
    httpVariant({
      ...writer,
      name: at(writer, connections),
      ...(connections === 1 && { title: `${writer.name}, 1 connection` }),
      connections,
      // Where hundreds queue for one row, it takes a while until the queue reaches its steady length.
      ...(connections > USUAL_CONNECTIONS && { rampSeconds: 1, leastSeconds: 2 }),
      axes: { writer: writer.name, connections },
    }),
  ),
)

const bySlots = SLOTS.map((slots) =>
  httpVariant({
    ...published(slots),
    name: slotted(slots),
    title: published(slots).name,
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
      connections: USUAL_CONNECTIONS,
      axes: { writer: writer.name, place: place(where) },
    }),
  ),
)

const variants: Variant[] = [...byConnections, ...bySlots, ...byPlace]

/** How writers of one counter slow each other down. */
export const contention: Topic = {
  name: 'contention',
  title: 'How much does a counter that everybody increments cost, and do slots help?',
  text:
    `One key. Unless stated otherwise, ${USUAL_CONNECTIONS} connections and ${USUAL_SLOTS} slots, on MySQL at its default isolation level. All but group commit send one ` +
    'statement per request. Lock waits are the server’s own counters. Each upsert of an existing row wastes an auto-increment id: the published ' +
    '`id INT` runs out after 2³¹ hits, and then every write fails.',
  seconds: 1,
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'lockWaitsPer1000', 'deadlocksPer1000', 'idsPer1000', 'statementsPer1000'],
  comparisons: [
    {
      label: 'requests/s: published pattern vs. one row',
      figure: 'perSecond',
      of: at(published(USUAL_SLOTS), USUAL_CONNECTIONS),
      to: at(ONE_ROW, USUAL_CONNECTIONS),
    },
    {
      label: 'requests/s: our primary key vs. the published one',
      figure: 'perSecond',
      of: at(ownKey(USUAL_SLOTS), USUAL_CONNECTIONS),
      to: at(published(USUAL_SLOTS), USUAL_CONNECTIONS),
    },
    {
      label: 'requests/s: group commit vs. a slot per writer',
      figure: 'perSecond',
      of: at(GROUP_COMMIT, USUAL_CONNECTIONS),
      to: at(SLOT_PER_WRITER, USUAL_CONNECTIONS),
    },
  ],
  charts({ runs }) {
    const series = { field: 'writer', title: 'stored in' }
    return [
      lineChart({
        name: 'contention-connections',
        alt: 'Requests per second for one key by number of connections',
        points: pointsOf(byConnections, runs, 'perSecond'),
        series,
        x: { field: 'connections', title: 'connections', log: true, values: CONNECTIONS },
        y: { title: 'requests/s', log: true },
      }),
      lineChart({
        name: 'contention-p99',
        alt: 'p99 latency by number of connections',
        points: pointsOf(byConnections, runs, 'p99Ms'),
        series,
        x: { field: 'connections', title: 'connections', log: true, values: CONNECTIONS },
        y: { title: 'p99, ms', log: true },
      }),
    ]
  },
  findings({ runs }) {
    const rate = (writer: WriteStrategy) => medianOf(runs, at(writer, USUAL_CONNECTIONS), 'perSecond')
    const waits = (writer: WriteStrategy) => medianOf(runs, at(writer, USUAL_CONNECTIONS), 'lockWaitsPer1000')
    const [one, slots, key] = [ONE_ROW, published(USUAL_SLOTS), ownKey(USUAL_SLOTS)]
    const best = rate(GROUP_COMMIT)
    const elsewhere = (where: (typeof PLACES)[number]) => medianOf(runs, there(slots, where), 'perSecond')
    return [
      `Give a slot table the primary key (type, id, slot) and no other unique key. At ${USUAL_CONNECTIONS} connections, the published schema takes ` +
        `${rounded(rate(slots))} hits/s with ${rounded(waits(slots))} lock waits per 1,000, one row ${rounded(rate(one))}, and our key ${rounded(rate(key))} with ` +
        `${rounded(waits(key))} lock waits per 1,000.`,
      `The published schema is slow on MySQL at REPEATABLE READ. At READ COMMITTED it takes ${rounded(elsewhere(PLACES[0]!))} hits/s, on MariaDB ${rounded(elsewhere(PLACES[1]!))}.`,
      `Where one process receives many requests, merge them first. Group commit takes ${rounded(best)} hits/s, ${rounded(best / rate(SLOT_PER_WRITER))} times as many as the best ` +
        'way with one statement per request.',
    ]
  },
}
