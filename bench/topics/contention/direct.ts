import type { IsolationLevel } from '../../../local/planetscale/served-database.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Variant } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { explainLocks } from './held-locks.ts'
import { addDirectly, INCREMENTS, KINDS, type Kind, SLOTS, TABLES } from './mysql-clients.ts'

const PLACES: { server: 'mysql' | 'mariadb'; isolation: IsolationLevel; clients: number }[] = (
  ['mysql', 'mariadb'] as const
).flatMap((server) => [
  { server, isolation: 'REPEATABLE READ', clients: 16 },
  { server, isolation: 'REPEATABLE READ', clients: 64 },
  { server, isolation: 'READ COMMITTED', clients: 64 },
])

const PRODUCTS = { mysql: 'MySQL', mariadb: 'MariaDB' }
const place = ({ server, isolation, clients }: (typeof PLACES)[number]) =>
  `${PRODUCTS[server]}, ${clients} clients, ${isolation}`
const named = (kind: string, where: (typeof PLACES)[number]) => `${kind}: ${place(where)}`

const variants: Variant[] = PLACES.flatMap((where) =>
  KINDS.map((kind) => ({
    name: named(kind, where),
    title: kind,
    about: TABLES[kind],
    table: place(where),
    axes: { kind, place: place(where) },
    needs: [where.server],
    measure: (testbed: Testbed, _: number, seconds: number) =>
      addDirectly(testbed, testbed.server(where.server), where, kind, seconds),
  })),
)

/** The statements alone, without Worker and endpoint, and the locks that they acquire. */
export const direct: Topic = {
  name: 'direct',
  title: 'Why is the published schema slower than one row on MySQL?',
  text:
    `Clients of the MySQL protocol add 1 to one counter, one statement after the other, without Worker and endpoint. No latency is added, and all ${SLOTS} slots ` +
    `exist. The milliseconds are for ${INCREMENTS.toLocaleString('en-US')} increments. Each run opens new connections, but starts no new processes. ` +
    'The tables of locks are from `performance_schema.data_locks`. They show three transactions that increment different slots. ' +
    '`X` is a next-key lock (a record and the gap before it), `X,REC_NOT_GAP` locks the record alone, `X,INSERT_INTENTION` waits to insert where a gap is locked, and `supremum` is the end of an index.',
  seconds: 0.6,
  needs: ['mysql'],
  variants,
  columns: ['milliseconds', 'perSecond', 'lockWaitsPer1000', 'deadlocksPer1000'],
  comparisons: PLACES.filter(({ clients, isolation }) => clients === 64 && isolation === 'REPEATABLE READ').flatMap(
    (where) => [
      {
        label: `increments/s: published schema relative to one row, ${place(where)}`,
        figure: 'perSecond' as const,
        of: named('published schema', where),
        to: named('one row', where),
      },
      {
        label: `increments/s: our key relative to the published one, ${place(where)}`,
        figure: 'perSecond' as const,
        of: named('our key, random slots', where),
        to: named('published schema', where),
      },
    ],
  ),
  charts: ({ runs }) => [
    barChart({
      name: 'direct',
      alt: 'Increments of one counter per second, sent directly to the server',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'kind', title: 'stored in' },
      category: 'place',
      y: { title: 'increments/s' },
    }),
  ],
  findings({ runs }) {
    const where = PLACES.find(
      ({ server, clients, isolation }) => server === 'mysql' && clients === 64 && isolation === 'REPEATABLE READ',
    )!
    const committed = PLACES.find(({ server, isolation }) => server === 'mysql' && isolation === 'READ COMMITTED')!
    const waits = (kind: Kind) => rounded(medianOf(runs, named(kind, where), 'lockWaitsPer1000'))
    return [
      'The published upsert first inserts a row at the end of the primary key. The unique key rejects that row, but the end of the index (`supremum`) ' +
        'stays locked until the commit. So upserts wait for each other even if their slots differ: ' +
        `${waits('published schema')} lock waits per 1,000 increments. With our primary key, an upsert locks only its own row: ${waits('our key, random slots')} lock waits.`,
      'If you can change the schema, make (type, id, slot) the primary key. If you cannot, use READ COMMITTED, where the published schema has ' +
        `${rounded(medianOf(runs, named('published schema', committed), 'lockWaitsPer1000'))} lock waits per 1,000.`,
    ]
  },
  async once(testbed) {
    return testbed.missing('mysql') === null ? explainLocks(testbed.server('mysql')) : []
  },
}
