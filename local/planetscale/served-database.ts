import mysql, { type FieldPacket, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2/promise'
import { type Behaviour, NO_BEHAVIOUR, pause, type RecordedStatement } from './fault-injection.ts'
import type { SessionState } from './session.ts'
import { COMMENT, isDdl, isWrite, verbOf } from './statement-verb.ts'
import { Transactions } from './transactions.ts'
import {
  DIRECT_DDL_DISABLED,
  type ErrorSource,
  StatementError,
  toWireError,
  vttabletError,
  type WireError,
} from './vitess-error.ts'
import { toWireField, toWireRow, type WireResult } from './wire-result.ts'

const POOL_SIZE = 100
/** The most rows of a PlanetScale result ("System limits"). */
const MAX_ROWS = 100_000

/**
 * A database that the endpoint serves. It runs single statements on pooled connections, and transactions on their own. In front
 * of a MySQL or MariaDB server it does what vtgate and vttablet do. Where the server is a vtgate, it leaves that to vtgate, and
 * has it refuse what would touch several shards.
 */
export class ServedDatabase implements ErrorSource {
  readonly name: string
  behaviour: Behaviour = { ...NO_BEHAVIOUR }
  readonly recorded: RecordedStatement[] = []
  readonly #uri: string
  readonly #pool: Pool
  /** Connections that have their session variables. */
  readonly #prepared = new WeakSet<object>()
  readonly #transactions: Transactions
  readonly #consolidator = new Consolidator<WireResult>()
  /** Known from the first connection on. */
  #isVitess: boolean | undefined

  constructor(mysqlUrl: string, name: string) {
    this.name = name
    this.#transactions = new Transactions(mysqlUrl, this, () => this.behaviour.transactionMs)
    const url = new URL(mysqlUrl)
    url.pathname = `/${name}`
    this.#uri = url.href
    this.#pool = mysql.createPool({
      uri: this.#uri,
      connectionLimit: POOL_SIZE,
      // Idle connections are closed soon, because all databases of the server share its limit.
      maxIdle: 1,
      idleTimeout: 3_000,
      charset: 'utf8mb4',
      multipleStatements: false,
      // Every value as the bytes that the server sent: Vitess passes on the text protocol too.
      rowsAsArray: true,
      typeCast: (field) => field.buffer(),
    })
  }

  get isVitess(): boolean {
    return this.#isVitess ?? false
  }

  /**
   * Runs one statement, and changes the state of its session.
   *
   * @throws {StatementError} if the statement fails
   */
  async run(sql: string, session: SessionState): Promise<WireResult> {
    if (this.behaviour.safeMigrations && isDdl(sql)) throw new StatementError(DIRECT_DDL_DISABLED)
    const verb = verbOf(sql)
    const begins = verb === 'BEGIN' || verb === 'START TRANSACTION'
    if (begins || verb === 'COMMIT' || verb === 'ROLLBACK') {
      // As in MySQL, BEGIN commits the open transaction.
      const end = verb === 'ROLLBACK' ? verb : 'COMMIT'
      if (session.transactionId !== null)
        await this.#transactions.end(session.transactionId, end, this.behaviour.commitMs)
      session.inTransaction = begins
      session.transactionId = null
      return {}
    }
    if (!session.inTransaction) return this.#runAlone(sql)
    // The server hears of BEGIN only now (Vitess go/vt/vtgate/tx_conn.go, `Begin`). If the response is lost, the client's session
    // does not name the transaction, which then keeps its locks until its time is up.
    session.transactionId ??= await this.#transactions.begin(await this.#connect('begin'))
    return this.#transactions.use(session.transactionId, 'query', (connection) => this.#query(connection, sql))
  }

  /**
   * Changes the state of a session after a statement of it failed. Rolls the transaction back if the failure ends it.
   *
   * Most errors leave it open. Vitess rolls back after ABORTED and RESOURCE_EXHAUSTED (vtgate, `ScatterConn.endAction`), and a
   * COMMIT or ROLLBACK ends the transaction even if it fails. A transaction that is in use by another request stays open until
   * its time is up, because vttablet does not roll it back either.
   */
  async afterFailure(sql: string, error: WireError, session: SessionState): Promise<void> {
    const verb = verbOf(sql)
    const isOver = verb === 'COMMIT' || verb === 'ROLLBACK' || ['ABORTED', 'RESOURCE_EXHAUSTED'].includes(error.code)
    if (!isOver) return
    if (session.transactionId !== null) await this.#transactions.end(session.transactionId, 'ROLLBACK').catch(() => {})
    session.inTransaction = false
    session.transactionId = null
  }

  /** Ends open transactions and closes all connections. */
  async close(): Promise<void> {
    await this.#transactions.endAll()
    await this.#pool.end()
  }

  async #connect(sql: string): Promise<PoolConnection> {
    let connection: PoolConnection | undefined
    try {
      this.#isVitess ??= await isVtgate(this.#uri)
      connection = await this.#pool.getConnection()
      if (!this.#prepared.has(connection.connection)) await this.#prepare(connection)
      const { isolation } = this.behaviour
      if (isolation !== null && !this.isVitess)
        await connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`)
      return connection
    } catch (error) {
      connection?.destroy()
      throw new StatementError(toWireError(this, error, sql))
    }
  }

  async #prepare(connection: PoolConnection): Promise<void> {
    // vtgate would apply sql_select_limit to every part of a UNION. vttablet limits results anyway.
    if (this.isVitess) await connection.query(`SET transaction_mode = 'single'`)
    // One row more than allowed, to notice that there are too many. Vitess runs in UTC.
    else await connection.query(`SET SESSION sql_select_limit = ${MAX_ROWS + 1}, time_zone = '+00:00'`)
    this.#prepared.add(connection.connection)
  }

  #runAlone(sql: string): Promise<WireResult> {
    const run = () => this.#runOnPool(sql)
    return this.isVitess ? run() : this.#consolidator.run(sql, run)
  }

  async #runOnPool(sql: string): Promise<WireResult> {
    const connection = await this.#connect(sql)
    try {
      const { commitMs } = this.behaviour
      if (commitMs === 0 || !isWrite(sql)) return await this.#query(connection, sql)
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

  async #query(connection: PoolConnection, sql: string): Promise<WireResult> {
    const { sqlMode, clockSeconds } = this.behaviour
    if (sqlMode !== null) await connection.query('SET SESSION sql_mode = ?', [sqlMode])
    if (clockSeconds !== null && !this.isVitess) {
      await connection.query(`SET SESSION timestamp = ${Date.now() / 1_000 + clockSeconds}`)
    }
    if (!this.behaviour.record) return query(connection, this, sql)
    // vtgate cannot tell what its servers read.
    const read = () => (this.isVitess ? Promise.resolve(0) : rowsRead(connection))
    const before = await read()
    const result = await query(connection, this, sql)
    this.recorded.push({
      sql,
      rowsReturned: result.rows?.length ?? 0,
      rowsAffected: Number(result.rowsAffected ?? 0),
      rowsRead: (await read()) - before,
    })
    return result
  }
}

async function isVtgate(uri: string): Promise<boolean> {
  const connection = await mysql.createConnection({ uri, rowsAsArray: true })
  try {
    const [rows] = await connection.query('SELECT VERSION()')
    return String(rows).includes('Vitess')
  } finally {
    connection.destroy()
  }
}

/**
 * Runs a statement on a connection that returns values as raw bytes.
 *
 * @throws {StatementError} if the statement fails or its result has too many rows
 */
async function query(connection: PoolConnection, source: ErrorSource, sql: string): Promise<WireResult> {
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
async function rowsRead(connection: PoolConnection): Promise<number> {
  const [rows] = await connection.query(`SHOW SESSION STATUS LIKE 'Handler_read%'`)
  return (rows as unknown as [Buffer, Buffer][]).reduce((sum, [, value]) => sum + Number(value.toString()), 0)
}

const MARGINS = new RegExp(`^(?:\\s|${COMMENT})+|(?:\\s|;|${COMMENT})+$`, 'g')
const SELECT = /^[(\s]*SELECT\b/i
const DISABLED = /^[(\s]*SELECT\s*\/\*vt\+[^*]*\bCONSOLIDATOR=disabled\b/i

/**
 * Lets a SELECT outside transactions join an identical one that is running, and share its result, which may be older than the
 * SELECT itself. vttablet does so by default, FOR UPDATE included (Vitess go/vt/vttablet/tabletserver/query_executor.go,
 * `execSelect`). Comments before and after the statement make no difference. Those after the word SELECT do, and
 * `CONSOLIDATOR=disabled` after the first one switches it off, for a UNION too (seen with Vitess 23).
 */
class Consolidator<T> {
  readonly #running = new Map<string, Promise<T>>()

  /** @param read runs the statement if there is none to join */
  run(sql: string, read: () => Promise<T>): Promise<T> {
    const text = sql.replace(MARGINS, '')
    if (!SELECT.test(text) || DISABLED.test(text)) return read()
    const running = this.#running.get(text)
    if (running !== undefined) return running
    const result = read().finally(() => this.#running.delete(text))
    this.#running.set(text, result)
    return result
  }
}
