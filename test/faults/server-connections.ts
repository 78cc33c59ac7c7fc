import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { expect, inject } from 'vitest'
import { onVitess } from '../harness/on-vitess.ts'
import type { Random } from '../harness/random.ts'
import type { FaultyDatabase } from './faulty-database.ts'

/** Whether tests can end the connections of the server that runs the statements. vtgate refuses KILL, and has other connections. */
export const canKill: boolean = !onVitess || inject('backendUrl') !== inject('mysqlUrl')

/** The connections on which the server is running a statement for a database. */
async function busy(connection: Connection, db: FaultyDatabase): Promise<number[]> {
  const [rows] = await connection.query<RowDataPacket[]>('SHOW PROCESSLIST')
  // The databases of a keyspace's shards begin with its name.
  const isOf = (name: string | null) => name === db.name || name?.startsWith(`vt_${db.name}_`)
  // On Vitess, this statement itself runs on a connection to the database.
  const isOwn = (sql: string | null) => /^show processlist/i.test(sql ?? '')
  const isBusy = (row: RowDataPacket) => isOf(row.db) && row.Command !== 'Sleep' && !isOwn(row.Info)
  return rows.filter(isBusy).map(({ Id }) => Number(Id))
}

/** Waits until the server runs no statement for a database. Statements that the Worker has given up may still run. */
export async function quiet(db: FaultyDatabase): Promise<void> {
  const connection = await mysql.createConnection({ uri: db.mysqlUrl })
  try {
    await expect.poll(() => busy(connection, db), { timeout: 30_000 }).toEqual([])
  } finally {
    await connection.end()
  }
}

/**
 * Ends busy connections to a database at the server, again and again.
 *
 * @param enough tells when to stop, given how many it has ended
 */
export async function killConnections(
  db: FaultyDatabase,
  random: Random,
  enough: (killed: number) => boolean,
): Promise<void> {
  const connection = await mysql.createConnection({ uri: db.mysqlUrl })
  let killed = 0
  try {
    while (!enough(killed)) {
      const candidates = await busy(connection, db)
      if (candidates.length > 0) {
        await connection.query(`KILL ${random.pick(candidates)}`).then(
          () => killed++,
          () => {}, // It has ended by itself.
        )
      }
      await new Promise((resolve) => setTimeout(resolve, random.between(5, 40)))
    }
  } finally {
    await connection.end()
  }
}
