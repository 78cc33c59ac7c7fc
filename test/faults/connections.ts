import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { expect } from 'vitest'
import type { FaultyDatabase } from './database.ts'
import type { Random } from './random.ts'

/** Statements that the server is running for a database. */
async function busy(connection: Connection, db: FaultyDatabase): Promise<number[]> {
  const [rows] = await connection.query<RowDataPacket[]>('SHOW PROCESSLIST')
  return rows.filter((row) => row.db === db.name && row.Command !== 'Sleep').map(({ Id }) => Number(Id))
}

/** Waits until the server runs nothing for a database: what was given up by everybody may be there still. */
export async function quiet(db: FaultyDatabase): Promise<void> {
  const connection = await mysql.createConnection({ uri: db.mysqlUrl })
  try {
    await expect.poll(() => busy(connection, db), { timeout: 30_000 }).toEqual([])
  } finally {
    await connection.end()
  }
}

/**
 * Ends connections to a database at the server, again and again, in the middle of whatever they are doing.
 *
 * @param enough says when to stop
 * @returns how many it ended that were busy
 */
export async function killConnections(db: FaultyDatabase, random: Random, enough: () => boolean): Promise<number> {
  const connection = await mysql.createConnection({ uri: db.mysqlUrl })
  let killed = 0
  try {
    while (!enough()) {
      const candidates = await busy(connection, db)
      if (candidates.length > 0) {
        await connection.query(`KILL ${random.pick(candidates)}`).then(
          () => killed++,
          () => {}, // It has ended by itself meanwhile.
        )
      }
      await new Promise((resolve) => setTimeout(resolve, random.between(5, 40)))
    }
    return killed
  } finally {
    await connection.end()
  }
}
