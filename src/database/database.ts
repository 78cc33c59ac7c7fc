import { Client, type Connection, cast } from '@planetscale/database'
import { classify } from './errors.ts'

/** The result of one statement. */
export interface Result {
  rows: Record<string, unknown>[]
  /** Rows matched or changed. An upsert counts 1 for an insert, and 2 for an update that changed something. */
  rowsAffected: number
  /**
   * Set if an earlier attempt at the same statement had an unknown outcome. That attempt may still reach the database, after
   * this result and after statements sent since.
   */
  straggler?: true
}

/** Sends statements one at a time. */
export interface Executor {
  /**
   * @param sql one statement, with `?` for each argument
   * @throws {DatabaseFailure} for every error, classified
   */
  execute(sql: string, args?: readonly unknown[]): Promise<Result>
}

/** A MySQL-family database behind PlanetScale's HTTP API. */
export interface Database extends Executor {
  /** The number of ranges that record ids are cut into: see `src/counters/ranges.ts`. */
  readonly ranges: number
  /**
   * Runs `work` between BEGIN and COMMIT. If anything throws, the transaction is rolled back and the first error is thrown.
   * A failed COMMIT has an unknown outcome.
   */
  transaction<T>(work: (transaction: Executor) => Promise<T>): Promise<T>
}

/** How to reach a database. */
export interface DatabaseOptions {
  url: string
  /** The time-out of a statement, in milliseconds. After it, the outcome is unknown. */
  deadlineMs: number
  /** Default: 1. */
  ranges?: number
  fetch?: typeof fetch
}

/**
 * Opens a database. Nothing is sent until the first statement. Each statement outside a transaction has its own session, so
 * that concurrent requests share nothing.
 */
export function openDatabase({ url, deadlineMs, ranges = 1, fetch: send = fetch }: DatabaseOptions): Database {
  const client = new Client({
    url,
    cast: castQuickly,
    fetch: (input: string, init) => fetchWithin(deadlineMs, send, input, init),
  })
  const executorOf = (connection: Connection | Client): Executor => ({
    async execute(sql, args) {
      try {
        const { rows, rowsAffected } = await connection.execute(sql, args ? [...args] : null)
        return { rows: rows as Record<string, unknown>[], rowsAffected }
      } catch (error) {
        throw classify(error)
      }
    },
  })
  const alone = executorOf(client)
  return {
    ranges,
    execute: (sql, args) => alone.execute(withoutConsolidator(sql), args),
    async transaction(work) {
      const transaction = executorOf(client.connection())
      await transaction.execute('BEGIN')
      try {
        const value = await work(transaction)
        await transaction.execute('COMMIT')
        return value
      } catch (error) {
        // Repeat the ROLLBACK once in case it was lost: otherwise the transaction keeps its locks until the server ends it (after
        // 20 s on PlanetScale). The first error is thrown.
        const rollBack = () => transaction.execute('ROLLBACK')
        await rollBack()
          .catch(rollBack)
          .catch(() => {})
        throw error
      }
    },
  }
}

const ASCII = /^[\0-\x7f]*$/

/** Converts a value as the driver does. Text in ASCII stays as it is: the driver decodes it byte by byte. */
function castQuickly(field: Parameters<typeof cast>[0], value: string | null): unknown {
  return field.type === 'VARCHAR' && value !== null && ASCII.test(value) ? value : cast(field, value)
}

const FIRST_SELECT = /^[\s(]*SELECT\b/

/**
 * Tells vttablet to run a SELECT even if an identical one is running. Otherwise it answers both with the result of the first
 * (the consolidator, on by default on primaries), whose snapshot is older: it can lack a hit that was acknowledged before this
 * read began. Statements in transactions are never consolidated. MySQL and MariaDB take the directive for a comment.
 *
 * Source: Vitess, "Comment directives"; `go/vt/sqlparser/comments.go`, `getConsolidator`.
 */
function withoutConsolidator(sql: string): string {
  return sql.replace(FIRST_SELECT, '$& /*vt+ CONSOLIDATOR=disabled */')
}

/**
 * Fetches with a time-out that includes the body, because the driver has neither a time-out nor an abort. The body is read
 * here and returned with only those parts of a response that the driver uses: another Response object would double the cost.
 *
 * The timer is cleared, unlike that of `AbortSignal.timeout`: workerd allows 10,000 timers at a time, which the statements of a
 * roll-up could exceed.
 */
async function fetchWithin(deadlineMs: number, send: typeof fetch, input: string, init: unknown) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs)
  try {
    const response = await send(input, { ...(init as RequestInit), signal: controller.signal })
    const { ok, status, statusText, headers } = response
    const text = await response.text()
    return { ok, status, statusText, headers, text: async () => text }
  } finally {
    clearTimeout(timer)
  }
}

/** How long one response took the database. */
export class DatabaseTime {
  #running = 0
  #since = 0
  #milliseconds = 0
  #used = false
  #shared = false

  /** What `Server-Timing` says; `null` if the database was not asked. */
  get result(): { milliseconds: number; shared: boolean } | null {
    return this.#used ? { milliseconds: this.#milliseconds, shared: this.#shared } : null
  }

  /** @param shared whether the same statement answered other requests as well */
  add(milliseconds: number, shared = false): void {
    this.#used = true
    this.#milliseconds += milliseconds
    this.#shared ||= shared
  }

  /** Measures work. Time in which several statements run counts once. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#since = performance.now()
    try {
      return await work()
    } finally {
      if (--this.#running === 0) this.add(performance.now() - this.#since)
    }
  }

  /** A database whose statements are measured. */
  of(database: Database): Database {
    const measured = (executor: Executor): Executor => ({
      execute: (sql, args) => this.measure(() => executor.execute(sql, args)),
    })
    return {
      ...measured(database),
      ranges: database.ranges,
      transaction: (work) => this.measure(() => database.transaction((transaction) => work(transaction))),
    }
  }
}
