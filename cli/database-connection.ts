import { Client } from '@planetscale/database'
import mysql from 'mysql2/promise'

/** A connection to a database, over PlanetScale's HTTP API or the MySQL protocol. */
export interface DatabaseConnection {
  execute(sql: string, args?: unknown[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/**
 * Connects to a database.
 * @param databaseUrl `https://…` or `http://…` for the HTTP API, or `mysql://…` with the database in its path
 * @throws {Error} if a `mysql://` URL names no database, or its server cannot be reached
 */
export async function connectDatabase(databaseUrl: string): Promise<DatabaseConnection> {
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
