import { Client } from '@planetscale/database'
import mysql from 'mysql2/promise'

/** A database as the programs of this folder reach it: over PlanetScale's HTTP API or the MySQL protocol. */
export interface DatabaseTarget {
  execute(sql: string, args?: unknown[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/**
 * Opens a database.
 *
 * @param databaseUrl `https://…` or `http://…` (HTTP API), or `mysql://…` with the database in its path
 * @throws {Error} if it is of another form, or the MySQL server cannot be reached
 */
export async function openTarget(databaseUrl: string): Promise<DatabaseTarget> {
  const { protocol, pathname } = new URL(databaseUrl)
  if (protocol === 'mysql:') {
    if (pathname.length < 2)
      throw new Error('DATABASE_URL must name the database: mysql://USER:PASSWORD@HOST:PORT/DATABASE')
    const connection = await mysql.createConnection({ uri: databaseUrl })
    return {
      execute: async (sql, args = []) => (await connection.query(sql, args))[0] as unknown as Record<string, unknown>[],
      close: () => connection.end(),
    }
  }
  const client = new Client({ url: databaseUrl })
  return {
    execute: async (sql, args = []) => (await client.execute(sql, args)).rows as Record<string, unknown>[],
    close: async () => {},
  }
}

/** Whether a server refused something with this number; over the HTTP API it stands in the message only. */
export function hasNumber(error: unknown, number: number): boolean {
  const { errno, message = '' } = error as { errno?: number; message?: string }
  return errno === number || message.includes(`(errno ${number})`)
}
