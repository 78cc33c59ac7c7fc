import type { IsolationLevel } from '../../../local/planetscale/fault-injection.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Variant } from '../../harness/variant.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { explainLocks } from './held-locks.ts'
import { addDirectly, KINDS, type Kind, SLOTS, TABLES } from './mysql-clients.ts'

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
    `Clients add 1 to one counter, one statement after another, over the MySQL protocol. All ${SLOTS} slots exist. The table compares 64 clients at ` +
    'REPEATABLE READ.',
  seconds: 0.6,
  needs: ['mysql'],
  variants,
  columns: ['milliseconds', 'perSecond', 'lockWaitsPer1000', 'deadlocksPer1000'],
  comparisons: PLACES.filter(({ clients, isolation }) => clients === 64 && isolation === 'REPEATABLE READ').flatMap(
    (where) => [
      {
        label: `increments/s, ${PRODUCTS[where.server]}: published schema vs. one row`,
        figure: 'perSecond' as const,
        of: named('published schema', where),
        to: named('one row', where),
      },
      {
        label: `increments/s, ${PRODUCTS[where.server]}: our key vs. the published one`,
        figure: 'perSecond' as const,
        of: named('our key, random slots', where),
        to: named('published schema', where),
      },
    ],
  ),
  charts: ({ runs }) => [
    barChart({
      name: 'direct',
      alt: 'Increments per second of one counter, sent directly to the server',
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
      'The published upsert first inserts a row at the end of the primary key. The unique key rejects it, but the end of the index (`supremum`) stays ' +
        'locked until the commit. So upserts of different slots wait for each other: ' +
        `${waits('published schema')} lock waits per 1,000 increments. With our primary key, an upsert locks only its own row: ${waits('our key, random slots')} lock waits.`,
      `If you cannot change the schema, use READ COMMITTED: ${rounded(medianOf(runs, named('published schema', committed), 'lockWaitsPer1000'))} lock waits per 1,000 increments.`,
    ]
  },
  async once(testbed) {
    return testbed.missing('mysql') === null ? explainLocks(testbed.server('mysql')) : []
  },
}
