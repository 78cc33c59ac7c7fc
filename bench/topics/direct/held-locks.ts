import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import type { IsolationLevel } from '../../../local/planetscale/fault-injection.ts'
import { bucketOf } from '../../../src/database/buckets.ts'
import { createTables } from '../../harness/create-tables.ts'
import type { BenchServer } from '../../harness/measured-database.ts'
import type { Table } from '../../report/results.ts'

const WAIT_MS = 5_000
const POLL_MS = 20
/** A slot, its neighbor, and one that is far from both. */
const SLOTS = [5, 6, 9] as const

const SCHEMAS = {
  'the published schema': {
    table: 'published_slotted_counters',
    add: (slot: number) =>
      `INSERT INTO published_slotted_counters (record_type, record_id, slot, count) VALUES (1, 1, ${slot}, 1)
       ON DUPLICATE KEY UPDATE count = count + 1`,
  },
  'our primary key': {
    table: 'slotted_counters',
    add: (slot: number) =>
      `INSERT INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until) VALUES (1, 1, ${bucketOf(1n)}, ${slot}, 1, 0, 0)
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  },
}

/** Tables of the locks that concurrent transactions hold on MySQL while they increment different slots. */
export async function explainLocks(server: BenchServer): Promise<Table[]> {
  const tables: Table[] = []
  for (const isolation of ['REPEATABLE READ', 'READ COMMITTED'] as const) {
    for (const name of Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[]) {
      tables.push(await explain(server, name, isolation))
    }
  }
  return tables
}

async function explain(server: BenchServer, name: keyof typeof SCHEMAS, isolation: IsolationLevel): Promise<Table> {
  const { table, add } = SCHEMAS[name]
  const database = await server.createDatabase()
  const open = async () => {
    const connection = await mysql.createConnection({ uri: `${server.url}/${database}` })
    await connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`)
    await connection.query('SET SESSION innodb_lock_wait_timeout = 10')
    return connection
  }
  const connections: Connection[] = []
  try {
    await createTables(server, database)
    for (let transaction = 0; transaction < SLOTS.length; transaction++) connections.push(await open())
    const [first, ...others] = connections as [Connection, ...Connection[]]
    for (let slot = 1; slot <= 9; slot++) await first.query(add(slot))
    for (const connection of connections) await connection.query('BEGIN')
    await first.query(add(SLOTS[0]))
    const statements = others.map((connection, index) => {
      const statement = { waits: true, settled: Promise.resolve() }
      const done = () => {
        statement.waits = false
      }
      statement.settled = connection.query(add(SLOTS[index + 1]!)).then(done, done)
      return statement
    })
    // Statements that need not wait finish at once. Poll until the server lists a waiting lock for each of the others.
    let locks = await locksOf(server, database, table)
    for (const began = Date.now(); Date.now() - began < WAIT_MS; ) {
      const waiting = statements.filter(({ waits }) => waits).length
      locks = await locksOf(server, database, table)
      if (locks.filter(({ LOCK_STATUS }) => LOCK_STATUS === 'WAITING').length === waiting) break
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    const waiting = SLOTS.slice(1).filter((_, index) => statements[index]!.waits)
    for (const [index, connection] of connections.entries()) {
      if (index > 0) await statements[index - 1]!.settled
      await connection.query('ROLLBACK')
    }
    const slotOf = new Map(connections.map(({ threadId }, index) => [threadId, SLOTS[index]]))
    return {
      title: `Locks with ${name}, ${isolation}`,
      text:
        `Three open transactions increment slot ${SLOTS[0]}, its neighbor ${SLOTS[1]} and slot ${SLOTS[2]}: ` +
        `${waiting.length === 0 ? 'none of them waits' : `those of slots ${waiting.join(' and ')} wait`}.`,
      headings: ['transaction', 'index', 'mode', 'record', 'status'],
      rows: locks.map((lock) => [
        `slot ${slotOf.get(lock.PROCESSLIST_ID)}`,
        String(lock.INDEX_NAME),
        String(lock.LOCK_MODE),
        String(lock.LOCK_DATA ?? ''),
        String(lock.LOCK_STATUS),
      ]),
    }
  } finally {
    for (const connection of connections) connection.destroy()
    await server.dropDatabase(database)
  }
}

/** The row locks on a table, by transaction. */
async function locksOf(server: BenchServer, database: string, table: string): Promise<RowDataPacket[]> {
  return server.query(
    `SELECT t.PROCESSLIST_ID, l.INDEX_NAME, l.LOCK_MODE, l.LOCK_DATA, l.LOCK_STATUS
     FROM performance_schema.data_locks AS l JOIN performance_schema.threads AS t USING (THREAD_ID)
     WHERE l.OBJECT_SCHEMA = ? AND l.OBJECT_NAME = ? AND l.LOCK_TYPE = 'RECORD'
     ORDER BY t.PROCESSLIST_ID, l.LOCK_STATUS, l.INDEX_NAME, l.LOCK_DATA`,
    [database, table],
  )
}
