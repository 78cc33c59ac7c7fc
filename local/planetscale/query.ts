import type { FieldPacket, PoolConnection, ResultSetHeader } from 'mysql2/promise'
import { type ErrorSource, StatementError, toWireError, vttabletError } from './vitess-error.ts'
import { toWireField, toWireRow, type WireResult } from './wire-result.ts'

/** The most rows of a PlanetScale result ("System limits"). */
export const MAX_ROWS = 100_000

/**
 * Runs a statement on a connection that returns values as raw bytes.
 *
 * @throws {StatementError} if the statement fails or its result has too many rows
 */
export async function query(connection: PoolConnection, source: ErrorSource, sql: string): Promise<WireResult> {
  let rows: (Buffer | null)[][] | ResultSetHeader
  let packets: FieldPacket[] | undefined
  try {
    ;[rows, packets] = (await connection.query(sql)) as [typeof rows, FieldPacket[] | undefined]
  } catch (error) {
    throw new StatementError(toWireError(source, error, sql))
  }
  if (!Array.isArray(rows)) {
    return {
      ...(rows.affectedRows > 0 && { rowsAffected: String(rows.affectedRows) }),
      // mysql2 reads the id as a signed number, or as a string where a double would lose digits.
      ...(Number(rows.insertId) !== 0 && { insertId: String(BigInt.asUintN(64, BigInt(rows.insertId))) }),
    }
  }
  if (rows.length > MAX_ROWS) {
    throw new StatementError(vttabletError(source.name, 'Aborted', `Row count exceeded ${MAX_ROWS}`))
  }
  return { fields: (packets ?? []).map(toWireField), ...(rows.length > 0 && { rows: rows.map(toWireRow) }) }
}

/** The rows that the server's handlers have read for a connection so far. */
export async function rowsRead(connection: PoolConnection): Promise<number> {
  const [rows] = await connection.query(`SHOW SESSION STATUS LIKE 'Handler_read%'`)
  return (rows as unknown as [Buffer, Buffer][]).reduce((sum, [, value]) => sum + Number(value.toString()), 0)
}
