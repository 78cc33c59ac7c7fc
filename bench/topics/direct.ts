import mysql, { type Connection, type ResultSetHeader } from 'mysql2/promise'
import type { IsolationLevel } from '../../local/planetscale/branch.ts'
import type { Rig } from '../harness/rig.ts'
import type { BenchServer } from '../harness/server.ts'
import { makeTables } from '../harness/service.ts'
import { barChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Outcome, Topic, Variant } from '../topic.ts'
import { explainLocks } from './locks.ts'

const SLOTS = 100
const PER = 10_000
const DEADLOCK = 1213

/** Statements that add 1 to counter 1, by a client with a number. */
const STATEMENTS = {
  'one row': () =>
    'INSERT INTO one_row_counters (record_type, record_id, count) VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE count = count + 1',
  'published schema': () =>
    `INSERT INTO published_slotted_counters (record_type, record_id, slot, count) VALUES (1, 1, FLOOR(RAND() * ${SLOTS}), 1)
     ON DUPLICATE KEY UPDATE count = count + 1`,
  'our key, random slots': () => own(Math.floor(Math.random() * SLOTS)),
  'our key, a slot per client': (client: number) => own(client),
} satisfies Record<string, (client: number) => string>

const TABLES = {
  'one row': 'one_row_counters',
  'published schema': 'published_slotted_counters',
  'our key, random slots': 'slotted_counters',
  'our key, a slot per client': 'slotted_counters',
}

type Kind = keyof typeof STATEMENTS

const own = (slot: number) =>
  `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES (1, 1, ${slot}, 1, 0, 0)
   ON DUPLICATE KEY UPDATE count = count + VALUES(count)`

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
  (Object.keys(STATEMENTS) as Kind[]).map((kind) => ({
    name: named(kind, where),
    about: TABLES[kind],
    table: place(where),
    axes: { kind, place: place(where) },
    needs: [where.server],
    measure: (rig: Rig, _: number, seconds: number) => measure(rig, rig.server(where.server), where, kind, seconds),
  })),
)

async function measure(
  rig: Rig,
  server: BenchServer,
  { isolation, clients }: (typeof PLACES)[number],
  kind: Kind,
  seconds: number,
): Promise<Outcome> {
  const database = await server.createDatabase()
  const connections: Connection[] = []
  try {
    await makeTables(server, database)
    for (let client = 0; client < clients; client++) {
      const connection = await mysql.createConnection({ uri: `${server.url}/${database}` })
      connections.push(connection)
      await connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`)
    }
    // All slots are there before it begins: it is updates that count.
    for (let slot = 0; slot < SLOTS; slot++) {
      await connections[0]!.query(STATEMENTS['our key, a slot per client'](slot))
      await connections[0]!.query(
        `INSERT INTO published_slotted_counters (record_type, record_id, slot, count) VALUES (1, 1, ${slot}, 1)`,
      )
    }
    const sum = async () =>
      Number((await server.query(`SELECT COALESCE(SUM(count), 0) AS sum FROM \`${database}\`.${TABLES[kind]}`))[0]!.sum)
    const [waitsBefore, sumBefore] = [await server.waits(), await sum()]
    const began = performance.now()
    const counts = await Promise.all(
      connections.map((connection, client) => {
        return countOn(connection, () => STATEMENTS[kind](client), began + seconds * 1_000, rig.signal)
      }),
    )
    const elapsed = (performance.now() - began) / 1_000
    const waits = await server.waits()
    const answered = counts.reduce((total, number) => total + number, 0)
    const counted = (await sum()) - sumBefore
    const violations = counted === answered ? [] : [`${counted} were counted, ${answered} answered`]
    return {
      figures: {
        answered,
        counted,
        perSecond: answered / elapsed,
        milliseconds: (elapsed / answered) * PER * 1_000,
        lockWaitsPer1000: ((waits.lockWaits - waitsBefore.lockWaits) / answered) * 1_000,
        deadlocksPer1000: ((waits.deadlocks - waitsBefore.deadlocks) / answered) * 1_000,
      },
      violations,
    }
  } finally {
    for (const connection of connections) connection.destroy()
    await server.dropDatabase(database)
  }
}

/** Counts until a moment; what a deadlock rolled back is tried again. */
async function countOn(
  connection: Connection,
  statement: () => string,
  until: number,
  signal: AbortSignal,
): Promise<number> {
  let counted = 0
  while (performance.now() < until) {
    signal.throwIfAborted()
    try {
      await connection.query<ResultSetHeader>(statement())
      counted++
    } catch (error) {
      if ((error as { errno?: number }).errno !== DEADLOCK) throw error
    }
  }
  return counted
}

/** The statements alone, without Worker and endpoint, and the locks that they take. */
export const direct: Topic = {
  name: 'direct',
  title: 'Why is the published schema slower than one row on MySQL?',
  text:
    `The statements alone: clients of the MySQL protocol add 1 to one counter, one statement after the other, no latency added, ${SLOTS} slots that all ` +
    `exist. The milliseconds are those of ${PER.toLocaleString('en-US')} increments. Connections, not processes, are new in each run. ` +
    'Below them, from `performance_schema.data_locks`, what three transactions lock that increment different slots: ' +
    '`X` is a next-key lock (a record and the gap before it), `X,REC_NOT_GAP` the record alone, `X,INSERT_INTENTION` waits to insert where a gap is locked; `supremum` is the end of an index.',
  seconds: 1,
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
