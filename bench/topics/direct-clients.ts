import mysql, { type Connection, type ResultSetHeader } from 'mysql2/promise'
import type { IsolationLevel } from '../../local/planetscale/branch.ts'
import type { Rig } from '../harness/rig.ts'
import type { BenchServer } from '../harness/server.ts'
import { makeTables } from '../harness/tables.ts'
import type { Outcome } from '../topic.ts'

export const SLOTS = 100
/** Increments whose time is told. */
export const PER = 10_000
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

export const KINDS = Object.keys(STATEMENTS) as Kind[]

/** Where each of them counts. */
export const TABLES = {
  'one row': 'one_row_counters',
  'published schema': 'published_slotted_counters',
  'our key, random slots': 'slotted_counters',
  'our key, a slot per client': 'slotted_counters',
}

export type Kind = keyof typeof STATEMENTS

const own = (slot: number) =>
  `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES (1, 1, ${slot}, 1, 0, 0)
   ON DUPLICATE KEY UPDATE count = count + VALUES(count)`

/** How clients are connected. */
interface Clients {
  isolation: IsolationLevel
  clients: number
}

/** Has clients of the MySQL protocol add to one counter for some seconds, each one statement after the other. */
export async function addDirectly(
  rig: Rig,
  server: BenchServer,
  { isolation, clients }: Clients,
  kind: Kind,
  seconds: number,
): Promise<Outcome> {
  const database = await server.createDatabase()
  const connections: Connection[] = []
  try {
    await makeTables(server, database)
    for (let client = 0; client < clients; client++) {
      connections.push(await mysql.createConnection({ uri: `${server.url}/${database}` }))
    }
    const level = `SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`
    await Promise.all(connections.map((connection) => connection.query(level)))
    // All slots are there before it begins: it is updates that count.
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot)
    const rows = (values: (slot: number) => string) => slots.map(values).join(', ')
    await connections[0]!.query(
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES ${rows((slot) => `(1, 1, ${slot}, 1, 0, 0)`)}`,
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
