import { randomUUID } from 'node:crypto'
import mysql, { type FieldPacket, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2/promise'
import { type Behaviour, NO_BEHAVIOUR, pause, type RecordedStatement } from './behaviour.ts'
import { toVitessError, vitessError, type WireError } from './vitess-error.ts'
import { toWireField, toWireRow, type WireResult } from './wire.ts'

/** PlanetScale ends a transaction after 20 s and a result at 100,000 rows ("System limits"). */
const TRANSACTION_MS = 20_000
const MAX_ROWS = 100_000
const POOL_SIZE = 100

/** How much of other transactions a statement sees, and with MySQL how much of an index it locks. */
export type IsolationLevel = 'REPEATABLE READ' | 'READ COMMITTED'

/** An open transaction and the connection it is pinned to. */
interface Transaction {
  connection: PoolConnection
  busy: boolean
  timer: NodeJS.Timeout
  /** Rejects when the transaction is ended from outside, which answers the statement that is running in it, if any. */
  ended: PromiseWithResolvers<never>
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
  readonly #mysqlUrl: string
  readonly #pool: Pool
  readonly #transactions = new Map<string, Transaction>()
  readonly #ended = new Map<string, string>()

  constructor(mysqlUrl: string, database: string, isolation?: IsolationLevel) {
    this.database = database
    this.#mysqlUrl = mysqlUrl
    const url = new URL(mysqlUrl)
    url.pathname = `/${database}`
    this.#pool = mysql.createPool({
      uri: url.href,
      connectionLimit: POOL_SIZE,
      // Given back soon: the server's connections are for all its databases.
      maxIdle: 1,
      idleTimeout: 3_000,
      charset: 'utf8mb4',
      multipleStatements: false,
      // Every value as the bytes the server sent: the text protocol is what Vitess passes on too.
      rowsAsArray: true,
      typeCast: (field) => field.buffer(),
    })
    this.#pool.on('connection', (connection) => {
      // One more than allowed, to see that there was more. Vitess runs with UTC.
      connection.query(`SET SESSION sql_select_limit = ${MAX_ROWS + 1}, time_zone = '+00:00'`)
      if (isolation !== undefined) connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`)
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
    const verb = verbOf(sql)
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
    const result = await this.#inside(transactionId, 'query', (connection) => this.#query(connection, sql))
    return { result, transactionId }
  }

  /**
   * Says which transaction a session is in after a statement of it failed, and rolls back the one that it is no longer in.
   *
   * Most errors leave it open. Vitess rolls back after ABORTED and RESOURCE_EXHAUSTED (vtgate, `ScatterConn.endAction`),
   * and a COMMIT or ROLLBACK is the end whether it succeeds or not. A transaction that another request is busy with stays,
   * because vttablet will not roll that back either; it ends when its time is up.
   */
  async afterFailure(sql: string, error: WireError, transactionId: string | null): Promise<string | null> {
    const verb = verbOf(sql)
    const over = verb === 'COMMIT' || verb === 'ROLLBACK' || ['ABORTED', 'RESOURCE_EXHAUSTED'].includes(error.code)
    if (!over || transactionId === null) return transactionId
    await this.#end(transactionId, 'ROLLBACK').catch(() => {})
    return null
  }

  /** Ends what is open and closes all connections. */
  async close(): Promise<void> {
    const open = [...this.#transactions.keys()]
    await Promise.all(
      open.map((id) => this.#kill(id, `ended at ${new Date().toISOString()} (the endpoint was closed)`)),
    )
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
      if (commitMs === 0 || !WRITES.has(verbOf(sql))) return await this.#query(connection, sql)
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
      const reason = `ended at ${new Date().toISOString()} (exceeded timeout: ${TRANSACTION_MS / 1_000}s)`
      this.#kill(id, reason).catch(() => {})
    }, TRANSACTION_MS)
    const ended = Promise.withResolvers<never>()
    // Whoever waits for it sees the rejection as well; that nobody may be waiting is no error.
    ended.promise.catch(() => {})
    this.#transactions.set(id, { connection, busy: false, timer, ended })
    return id
  }

  /**
   * Does something on the connection of a transaction.
   *
   * @throws {StatementError} if the transaction is not open, is busy with something else, or is ended meanwhile
   */
  async #inside<T>(id: string, purpose: string, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
    const transaction = this.#transactions.get(id)
    if (transaction === undefined) throw this.#aborted(id, this.#ended.get(id) ?? 'not found')
    if (transaction.busy) throw this.#aborted(id, `in use: for ${purpose}`)
    transaction.busy = true
    try {
      return await Promise.race([work(transaction.connection), transaction.ended.promise])
    } finally {
      transaction.busy = false
    }
  }

  async #end(id: string, verb: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    if (verb === 'ROLLBACK' && !this.#transactions.has(id)) return
    const timer = this.#transactions.get(id)?.timer
    await this.#inside(id, verb.toLowerCase(), async (connection) => {
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
    })
  }

  /** Ends a transaction from outside, also in the middle of a statement. */
  async #kill(id: string, reason: string): Promise<void> {
    const transaction = this.#transactions.get(id)
    if (transaction === undefined) return
    clearTimeout(transaction.timer)
    this.#transactions.delete(id)
    this.#ended.set(id, reason)
    setTimeout(() => this.#ended.delete(id), 10 * TRANSACTION_MS).unref()
    const { threadId } = transaction.connection
    transaction.connection.destroy()
    try {
      // A server that waits for a row lock does not look whether the client is still there, and keeps the locks it has.
      // Not on a pooled connection: all of those may be in transactions that wait for each other.
      const killer = await mysql.createConnection({ uri: this.#mysqlUrl })
      await killer.query(`KILL ${threadId}`).finally(() => killer.end())
    } catch {
      // The server is gone, or has already noticed that the connection was closed.
    } finally {
      transaction.ended.reject(this.#aborted(id, reason))
    }
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
        // The client reads it as a signed number, and as a string where a double would not do.
        ...(Number(rows.insertId) !== 0 && { insertId: String(BigInt.asUintN(64, BigInt(rows.insertId))) }),
      }
    }
    if (rows.length > MAX_ROWS) {
      throw new StatementError(vitessError(this.database, { errno: 10001, message: `Row count exceeded ${MAX_ROWS}` }))
    }
    return { fields: (packets ?? []).map(toWireField), ...(rows.length > 0 && { rows: rows.map(toWireRow) }) }
  }
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'REPLACE'])

// The first word after blanks and comments. ROLLBACK TO goes back to a savepoint and ends nothing.
const COMMENT = String.raw`/\*(?:[^*]|\*(?!/))*\*/|--(?:[^\S\n][^\n]*)?\n|#[^\n]*\n`
const VERB = new RegExp(String.raw`^(?:\s|${COMMENT})*(\w+(?:\s+TRANSACTION\b|\s+(?:WORK\s+)?TO\b)?)`, 'i')

/** What a statement does, in capitals: `COMMIT`, `START TRANSACTION`, `ROLLBACK TO`. */
function verbOf(sql: string): string {
  return (VERB.exec(sql)?.[1] ?? '').toUpperCase().replace(/\s+/g, ' ')
}

async function rowsRead(connection: PoolConnection): Promise<number> {
  const [rows] = await connection.query(`SHOW SESSION STATUS LIKE 'Handler_read%'`)
  return (rows as unknown as [Buffer, Buffer][]).reduce((sum, [, value]) => sum + Number(value.toString()), 0)
}
