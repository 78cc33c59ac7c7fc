import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import mysql, { type PoolConnection } from 'mysql2/promise'
import { pause } from './fault-injection.ts'
import { type ErrorSource, StatementError, toWireError, vttabletError } from './vitess-error.ts'

/** A vtgate ends transactions itself. The endpoint then only closes connections that clients have forgotten. */
const VTGATE_LIMIT_MS = 60_000

/** Milliseconds for which the reason is kept why a transaction was ended. */
const REASON_MS = 200_000

/** An open transaction and the connection that it is pinned to. */
interface Transaction {
  connection: PoolConnection
  busy: boolean
  /** Whether its time is up. It ends as soon as no statement is running in it. */
  expired: boolean
  timer: NodeJS.Timeout
  /** Rejects when the transaction is ended from outside. This answers the statement that is running in it, if any. */
  ended: PromiseWithResolvers<never>
}

/** The open transactions of a database, each on its own connection. Ends those that take too long. */
export class Transactions {
  readonly #mysqlUrl: string
  readonly #source: ErrorSource
  readonly #ownLimitMs: () => number
  readonly #open = new Map<string, Transaction>()
  /** Why transactions were ended from outside, for their next statements. */
  readonly #reasons = new Map<string, string>()

  /** @param limitMs tells the milliseconds that a transaction may take now, and each statement in one */
  constructor(mysqlUrl: string, source: ErrorSource, limitMs: () => number) {
    this.#mysqlUrl = mysqlUrl
    this.#source = source
    this.#ownLimitMs = limitMs
  }

  /** Begins a transaction on a pooled connection and returns its id. */
  async begin(connection: PoolConnection): Promise<string> {
    try {
      // vttablet takes the smaller of this limit and its own.
      if (this.#source.isVitess) await connection.query(`SET transaction_timeout = ${this.#ownLimitMs()}`)
      await connection.query('BEGIN')
    } catch (error) {
      connection.destroy()
      throw new StatementError(toWireError(this.#source, error, 'begin'))
    }
    const id = randomUUID()
    const timer = setTimeout(() => this.#expire(id), this.#limitMs)
    const ended = Promise.withResolvers<never>()
    // A statement that waits for it gets the rejection too. If none does, that is not an unhandled error.
    ended.promise.catch(() => {})
    this.#open.set(id, { connection, busy: false, expired: false, timer, ended })
    return id
  }

  /**
   * Uses the connection of a transaction.
   *
   * @throws {StatementError} if the transaction is not open, is in use, or is ended in the meantime
   */
  async use<T>(id: string, purpose: string, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
    const transaction = this.#open.get(id)
    if (transaction === undefined) throw this.#aborted(id, this.#reasons.get(id) ?? 'not found')
    if (transaction.busy) throw this.#aborted(id, `in use: for ${purpose}`)
    transaction.busy = true
    const timer = setTimeout(() => this.#interrupt(id), this.#limitMs)
    try {
      return await Promise.race([work(transaction.connection), transaction.ended.promise])
    } finally {
      clearTimeout(timer)
      transaction.busy = false
      if (transaction.expired) this.#expire(id)
    }
  }

  /**
   * Commits or rolls back a transaction.
   *
   * @param commitMs milliseconds to wait before a COMMIT
   * @throws {StatementError} if the transaction has ended already, even for ROLLBACK
   */
  async end(id: string, verb: 'COMMIT' | 'ROLLBACK', commitMs = 0): Promise<void> {
    const timer = this.#open.get(id)?.timer
    await this.use(id, verb.toLowerCase(), async (connection) => {
      try {
        if (verb === 'COMMIT') await pause(commitMs)
        await connection.query(verb)
      } catch (error) {
        connection.destroy()
        throw new StatementError(toWireError(this.#source, error, verb.toLowerCase()))
      } finally {
        clearTimeout(timer)
        this.#open.delete(id)
        connection.release()
      }
    })
  }

  /** Ends all transactions without a COMMIT. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#kill(id, 'the endpoint was closed')))
  }

  get #limitMs(): number {
    return this.#source.isVitess ? VTGATE_LIMIT_MS : this.#ownLimitMs()
  }

  #expire(id: string): void {
    const transaction = this.#open.get(id)
    if (transaction === undefined) return
    transaction.expired = true
    if (!transaction.busy) this.#kill(id, `exceeded timeout: ${this.#limitMs / 1_000}s`).catch(() => {})
  }

  /** Ends a transaction because of the time that a statement takes. vttablet kills the connection. */
  #interrupt(id: string): void {
    const reason = 'Query execution was interrupted, maximum statement execution time exceeded'
    const message = `(errno 3024) (sqlstate HY000): ${reason}, elapsed time: ${this.#limitMs / 1_000}s, killing connection ID 1`
    const error = new StatementError(vttabletError(this.#source.name, 'Canceled', message))
    this.#kill(id, 'unlocked closed connection', error).catch(() => {})
  }

  /**
   * Ends a transaction from outside, even in the middle of a statement.
   *
   * @param error for the statement, if it is not the one for later statements
   */
  async #kill(id: string, cause: string, error?: StatementError): Promise<void> {
    const transaction = this.#open.get(id)
    if (transaction === undefined) return
    const reason = `ended at ${new Date().toISOString()} (${cause})`
    clearTimeout(transaction.timer)
    this.#open.delete(id)
    this.#reasons.set(id, reason)
    setTimeout(() => this.#reasons.delete(id), REASON_MS).unref()
    const { threadId } = transaction.connection
    // If the server has closed it, for instance because it was restarted, another connection may have its number by now.
    const closed = (transaction.connection.connection as unknown as { stream: Socket }).stream.destroyed
    transaction.connection.destroy()
    try {
      if (closed) return
      // While a server waits for a row lock, it does not notice that the client has gone, and keeps its locks. The KILL needs
      // a new connection: all pooled ones may be in transactions that wait for each other. vtgate refuses KILL (VT07001).
      if (this.#source.isVitess) return
      const killer = await mysql.createConnection({ uri: this.#mysqlUrl })
      await killer.query(`KILL ${threadId}`).finally(() => killer.end())
    } catch {
      // The server has stopped, or has already noticed that the connection was closed.
    } finally {
      transaction.ended.reject(error ?? this.#aborted(id, reason))
    }
  }

  #aborted(id: string, reason: string): StatementError {
    return new StatementError(vttabletError(this.#source.name, 'Aborted', `transaction ${id}: ${reason}`))
  }
}
