import type { IsolationLevel } from '../../local/planetscale/branch.ts'
import type { Rig } from '../harness/rig.ts'
import { barChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Topic, Variant } from '../topic.ts'
import { addDirectly, KINDS, type Kind, PER, SLOTS, TABLES } from './direct-clients.ts'
import { explainLocks } from './locks.ts'

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
    about: TABLES[kind],
    table: place(where),
    axes: { kind, place: place(where) },
    needs: [where.server],
    measure: (rig: Rig, _: number, seconds: number) => addDirectly(rig, rig.server(where.server), where, kind, seconds),
  })),
)

/** The statements alone, without Worker and endpoint, and the locks that they take. */
export const direct: Topic = {
  name: 'direct',
  title: 'Why is the published schema slower than one row on MySQL?',
  text:
    `The statements alone: clients of the MySQL protocol add 1 to one counter, one statement after the other, no latency added, ${SLOTS} slots that all ` +
    `exist. The milliseconds are those of ${PER.toLocaleString('en-US')} increments. Connections, not processes, are new in each run. ` +
    'Below them, from `performance_schema.data_locks`, what three transactions lock that increment different slots: ' +
    '`X` is a next-key lock (a record and the gap before it), `X,REC_NOT_GAP` the record alone, `X,INSERT_INTENTION` waits to insert where a gap is locked; `supremum` is the end of an index.',
  seconds: 0.6,
  needs: ['mysql'],
  variants,
  columns: ['milliseconds', 'perSecond', 'lockWaitsPer1000', 'deadlocksPer1000'],
  comparisons: PLACES.filter(({ clients, isolation }) => clients === 64 && isolation === 'REPEATABLE READ').flatMap(
    (where) => [
      {
        says: `increments/s: published schema against one row, ${place(where)}`,
        figure: 'perSecond' as const,
        of: named('published schema', where),
        to: named('one row', where),
      },
      {
        says: `increments/s: our key against the published one, ${place(where)}`,
        figure: 'perSecond' as const,
        of: named('our key, random slots', where),
        to: named('published schema', where),
      },
    ],
  ),
  charts: ({ runs }) => [
    barChart({
      name: 'direct',
      alt: 'Increments of one counter per second, straight to the server',
      points: pointsOf(variants, runs, 'perSecond'),
      series: { field: 'kind', title: 'counted in' },
      category: 'place',
      y: { title: 'increments/s' },
    }),
  ],
  findings({ runs }) {
    const where = PLACES.find(
      ({ server, clients, isolation }) => server === 'mysql' && clients === 64 && isolation === 'REPEATABLE READ',
    )!
    const committed = PLACES.find(({ server, isolation }) => server === 'mysql' && isolation === 'READ COMMITTED')!
    const waits = (kind: Kind) => about(medianOf(runs, named(kind, where), 'lockWaitsPer1000'))
    return [
      `The published upsert first inserts a row with a new id at the end of the primary key; when the unique key refuses it, the row goes, but a lock on ` +
        `the end of the index (\`supremum\`) stays until the commit, and every other upsert, whatever its slot, has to insert there: ` +
        `${waits('published schema')} lock waits per 1,000 increments, against ${waits('our key, random slots')} on our primary key, where the upsert locks one record.`,
      `If you cannot change the schema, use READ COMMITTED, where the published one has ` +
        `${about(medianOf(runs, named('published schema', committed), 'lockWaitsPer1000'))}; if you can, let the primary key be the slot’s address.`,
    ]
  },
  async once(rig) {
    return rig.missing('mysql') === null ? explainLocks(rig.server('mysql')) : []
  },
}
