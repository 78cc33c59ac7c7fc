import mysql, { type Connection, type ResultSetHeader } from 'mysql2/promise'
import type { IsolationLevel } from '../../../local/planetscale/fault-injection.ts'
import { bucketOf } from '../../../src/database/buckets.ts'
import { createTables } from '../../harness/create-tables.ts'
import type { BenchServer } from '../../harness/measured-database.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome } from '../../harness/variant.ts'

export const SLOTS = 100
/** Number of increments for which the report shows the time. */
export const INCREMENTS = 10_000
const DEADLOCK = 1213

/** Statements that add 1 to counter 1, by client number. */
const STATEMENTS = {
  'one row': () =>
    'INSERT INTO one_row_counters (record_type, record_id, count) VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE count = count + 1',
  'published schema': () =>
    `INSERT INTO published_slotted_counters (record_type, record_id, slot, count) VALUES (1, 1, FLOOR(RAND() * ${SLOTS}), 1)
     ON DUPLICATE KEY UPDATE count = count + 1`,
  'our key, random slots': () => own(Math.floor(Math.random() * SLOTS)),
  'our key, a slot per client': (client: number) => own(client),
} satisfies Record<string, (client: number) => string>

export const KINDS = Object.keys(STATEMENTS) as Kind[]

/** The table that each statement writes. */
export const TABLES = {
  'one row': 'one_row_counters',
  'published schema': 'published_slotted_counters',
  'our key, random slots': 'slotted_counters',
  'our key, a slot per client': 'slotted_counters',
}

export type Kind = keyof typeof STATEMENTS

const own = (slot: number) =>
  `INSERT INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until) VALUES (1, 1, ${bucketOf(1n)}, ${slot}, 1, 0, 0)
   ON DUPLICATE KEY UPDATE count = count + VALUES(count)`

/** How clients are connected. */
interface Clients {
  isolation: IsolationLevel
  clients: number
}

/** Has clients of the MySQL protocol increment one counter for some seconds, each one statement after the other. */
export async function addDirectly(
  testbed: Testbed,
  server: BenchServer,
  { isolation, clients }: Clients,
  kind: Kind,
  seconds: number,
): Promise<Outcome> {
  const database = await server.createDatabase()
  const connections: Connection[] = []
  try {
    await createTables(server, database)
    for (let client = 0; client < clients; client++) {
      connections.push(await mysql.createConnection({ uri: `${server.url}/${database}` }))
    }
    const level = `SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`
    await Promise.all(connections.map((connection) => connection.query(level)))
    // All slots exist before measuring begins, because updates are what is measured.
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot)
    const rows = (values: (slot: number) => string) => slots.map(values).join(', ')
    await connections[0]!.query(
      `INSERT INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until) VALUES ${rows((slot) => `(1, 1, ${bucketOf(1n)}, ${slot}, 1, 0, 0)`)}`,
    )
    await connections[0]!.query(
      `INSERT INTO published_slotted_counters (record_type, record_id, slot, count) VALUES ${rows((slot) => `(1, 1, ${slot}, 1)`)}`,
    )
    const sum = async () =>
      Number((await server.query(`SELECT COALESCE(SUM(count), 0) AS sum FROM \`${database}\`.${TABLES[kind]}`))[0]!.sum)
    const [waitsBefore, sumBefore] = [await server.waits(), await sum()]
    const began = performance.now()
    const counts = await Promise.all(
      connections.map((connection, client) => {
        return countOn(connection, () => STATEMENTS[kind](client), began + seconds * 1_000, testbed.signal)
      }),
    )
    const elapsed = (performance.now() - began) / 1_000
    const waits = await server.waits()
    const answered = counts.reduce((total, number) => total + number, 0)
    const counted = (await sum()) - sumBefore
    const violations = counted === answered ? [] : [`${counted} increments were counted, but ${answered} were answered`]
    return {
      figures: {
        answered,
        counted,
        perSecond: answered / elapsed,
        milliseconds: (elapsed / answered) * INCREMENTS * 1_000,
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

/** Increments until a point in time. Statements that a deadlock rolled back are retried. */
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
