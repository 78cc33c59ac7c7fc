import mysql, { type RowDataPacket } from 'mysql2/promise'
import type { FaultyDatabase } from './database.ts'
import type { Random } from './random.ts'

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
      const [rows] = await connection.query<RowDataPacket[]>('SHOW PROCESSLIST')
      const busy = rows.filter((row) => row.db === db.name && row.Command !== 'Sleep')
      if (busy.length > 0) {
        await connection.query(`KILL ${random.pick(busy).Id}`).then(
          () => killed++,
          () => {}, // It has ended by itself meanwhile.
        )
      }
      await new Promise((resolve) => setTimeout(resolve, random.between(2, 20)))
    }
    return killed
  } finally {
    await connection.end()
  }
}
