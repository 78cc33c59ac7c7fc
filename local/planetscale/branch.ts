import { randomUUID } from 'node:crypto'
import mysql, { type FieldPacket, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2/promise'
import { type Behaviour, NO_BEHAVIOUR, pause, type RecordedStatement } from './behaviour.ts'
import { toVitessError, vitessError, type WireError } from './vitess-error.ts'
import { toWireField, toWireRow, type WireResult } from './wire.ts'

/** PlanetScale ends a transaction after 20 s and a result at 100,000 rows ("System limits"). */
const TRANSACTION_MS = 20_000
const MAX_ROWS = 100_000
const POOL_SIZE = 100

/** An open transaction and the connection it is pinned to. */
interface Transaction {
  connection: PoolConnection
  busy: boolean
  timer: NodeJS.Timeout
}

/** Thrown for a statement that failed; carries the answer. */
export class StatementError extends Error {
  readonly wire: WireError
  constructor(wire: WireError) {
    super(wire.message)
    this.wire = wire
  }
}

/**
 * One database behind the endpoint, as a PlanetScale credential opens it: runs statements on pooled connections, keeps
 * transactions on connections of their own, and ends those that take too long.
 */
export class Branch {
  readonly database: string
  behaviour: Behaviour = { ...NO_BEHAVIOUR }
  readonly recorded: RecordedStatement[] = []
  readonly #pool: Pool
  readonly #transactions = new Map<string, Transaction>()
  readonly #ended = new Map<string, string>()

  constructor(mysqlUrl: string, database: string) {
    this.database = database
    const url = new URL(mysqlUrl)
    url.pathname = `/${database}`
    this.#pool = mysql.createPool({
      uri: url.href,
      connectionLimit: POOL_SIZE,
      charset: 'utf8mb4',
      multipleStatements: false,
      // Every value as the bytes the server sent: the text protocol is what Vitess passes on too.
      rowsAsArray: true,
      typeCast: (field) => field.buffer(),
    })
    this.#pool.on('connection', (connection) => {
      // One more than allowed, to see that there was more. Vitess runs with UTC.
      connection.query(`SET SESSION sql_select_limit = ${MAX_ROWS + 1}, time_zone = '+00:00'`)
    })
  }

  /**
   * Runs one statement.
   *
   * @param transactionId the transaction that the session is in, if it is in one
   * @returns the result and the transaction that the session is in afterwards
   * @throws {StatementError}
   */
  async run(sql: string, transactionId: string | null): Promise<{ result: WireResult; transactionId: string | null }> {
    const verb = /^\s*(?:\/\*.*?\*\/\s*)*(\w+(?:\s+TRANSACTION)?)/is.exec(sql)?.[1]?.toUpperCase().replace(/\s+/g, ' ')
    if (verb === 'BEGIN' || verb === 'START TRANSACTION') {
      // As in MySQL, BEGIN commits what is open.
      if (transactionId !== null) await this.#end(transactionId, 'COMMIT')
      return { result: {}, transactionId: await this.#begin() }
    }
    if (verb === 'COMMIT' || verb === 'ROLLBACK') {
      if (transactionId !== null) await this.#end(transactionId, verb)
      return { result: {}, transactionId: null }
    }
    if (transactionId === null) return { result: await this.#runAlone(sql), transactionId: null }
    const transaction = this.#transactionOf(transactionId)
    if (transaction.busy) {
      throw this.#aborted(transactionId, 'in use: for query')
    }
    transaction.busy = true
    try {
      return { result: await this.#query(transaction.connection, sql), transactionId }
    } finally {
      transaction.busy = false
    }
  }

  /** Rolls back what is open and closes all connections. */
  async close(): Promise<void> {
    for (const id of [...this.#transactions.keys()]) await this.#end(id, 'ROLLBACK').catch(() => {})
    await this.#pool.end()
  }

  async #connect(sql: string): Promise<PoolConnection> {
    try {
      return await this.#pool.getConnection()
    } catch (error) {
      throw new StatementError(toVitessError(this.database, error, sql))
    }
  }

  async #runAlone(sql: string): Promise<WireResult> {
    const connection = await this.#connect(sql)
    try {
      const { commitMs } = this.behaviour
      if (commitMs === 0 || !/^\s*(INSERT|UPDATE|DELETE|REPLACE)\b/i.test(sql))
        return await this.#query(connection, sql)
      await connection.beginTransaction()
      try {
        const result = await this.#query(connection, sql)
        await pause(commitMs)
        await connection.commit()
        return result
      } catch (error) {
        await connection.rollback().catch(() => {})
        throw error
      }
    } finally {
      connection.release()
    }
  }

  async #begin(): Promise<string> {
    const connection = await this.#connect('begin')
    try {
      await connection.query('BEGIN')
    } catch (error) {
      connection.destroy()
      throw new StatementError(toVitessError(this.database, error, 'begin'))
    }
    const id = randomUUID()
    const timer = setTimeout(() => {
      const age = `ended at ${new Date().toISOString()} (exceeded timeout: ${TRANSACTION_MS / 1_000}s)`
      const transaction = this.#transactions.get(id)
      this.#transactions.delete(id)
      this.#ended.set(id, age)
      setTimeout(() => this.#ended.delete(id), 10 * TRANSACTION_MS).unref()
      // The server rolls back what a closed connection leaves open, also in the middle of a statement.
      transaction?.connection.destroy()
    }, TRANSACTION_MS)
    this.#transactions.set(id, { connection, busy: false, timer })
    return id
  }

  async #end(id: string, verb: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    if (verb === 'ROLLBACK' && !this.#transactions.has(id)) return
    const { connection, timer } = this.#transactionOf(id)
    try {
      if (verb === 'COMMIT') await pause(this.behaviour.commitMs)
      await connection.query(verb)
    } catch (error) {
      connection.destroy()
      throw new StatementError(toVitessError(this.database, error, verb.toLowerCase()))
    } finally {
      clearTimeout(timer)
      this.#transactions.delete(id)
      connection.release()
    }
  }

  #transactionOf(id: string): Transaction {
    const transaction = this.#transactions.get(id)
    if (transaction !== undefined) return transaction
    throw this.#aborted(id, this.#ended.get(id) ?? 'not found')
  }

  #aborted(id: string, reason: string): StatementError {
    const message = `transaction ${id}: ${reason}`
    const wire = vitessError(this.database, { errno: 1317, sqlState: '70100', message })
    return new StatementError({ code: 'ABORTED', message: wire.message.replace('DeadlineExceeded', 'Aborted') })
  }

  async #query(connection: PoolConnection, sql: string): Promise<WireResult> {
    const before = this.behaviour.record ? await rowsRead(connection) : 0
    let rows: (Buffer | null)[][] | ResultSetHeader
    let packets: FieldPacket[] | undefined
    try {
      ;[rows, packets] = (await connection.query(sql)) as [typeof rows, FieldPacket[] | undefined]
    } catch (error) {
      throw new StatementError(toVitessError(this.database, error, sql))
    }
    const result = this.#toWire(rows, packets)
    if (this.behaviour.record) {
      this.recorded.push({
        sql,
        rowsReturned: result.rows?.length ?? 0,
        rowsAffected: Number(result.rowsAffected ?? 0),
        rowsRead: (await rowsRead(connection)) - before,
      })
    }
    return result
  }

  #toWire(rows: (Buffer | null)[][] | ResultSetHeader, packets: FieldPacket[] | undefined): WireResult {
    if (!Array.isArray(rows)) {
      return {
        ...(rows.affectedRows > 0 && { rowsAffected: String(rows.affectedRows) }),
        ...(Number(rows.insertId) !== 0 && { insertId: String(rows.insertId) }),
      }
    }
    if (rows.length > MAX_ROWS) {
      throw new StatementError(vitessError(this.database, { errno: 10001, message: `Row count exceeded ${MAX_ROWS}` }))
    }
    return { fields: (packets ?? []).map(toWireField), ...(rows.length > 0 && { rows: rows.map(toWireRow) }) }
  }
}

async function rowsRead(connection: PoolConnection): Promise<number> {
  const [rows] = await connection.query(`SHOW SESSION STATUS LIKE 'Handler_read%'`)
  return (rows as unknown as [Buffer, Buffer][]).reduce((sum, [, value]) => sum + Number(value.toString()), 0)
}
