import { Client, type Connection } from '@planetscale/database'
import { classify } from './errors.ts'

/** The result of one statement. */
export interface Result {
  rows: Record<string, unknown>[]
  /** Rows the statement matched or changed; an upsert counts 1 for an insert and 2 for an update that changed something. */
  rowsAffected: number
  /**
   * Set if an earlier attempt at the same statement was given up with an unknown outcome: it may still be on its way, and
   * reach the database after this answer and after anything sent since.
   */
  straggler?: true
}

/** Sends statements one at a time. */
export interface Executor {
  /**
   * @param sql one statement, with `?` for each argument
   * @throws {DatabaseFailure}
   */
  execute(sql: string, args?: readonly unknown[]): Promise<Result>
}

/** A MySQL-family database behind PlanetScale's HTTP API. */
export interface Database extends Executor {
  /**
   * Runs `work` between BEGIN and COMMIT. If anything throws, it is rolled back and the first error is thrown; a failed
   * COMMIT has an unknown outcome.
   *
   * @throws {DatabaseFailure}
   */
  transaction<T>(work: (transaction: Executor) => Promise<T>): Promise<T>
}

/** How to reach a database. */
export interface DatabaseOptions {
  url: string
  /** Milliseconds after which a statement that was not answered is given up, its outcome unknown. */
  deadlineMs: number
  fetch?: typeof fetch
}

/**
 * Opens a database. Nothing is sent until the first statement. Every statement outside a transaction has a session of its
 * own, so that concurrent requests share nothing.
 */
export function openDatabase({ url, deadlineMs, fetch: send = fetch }: DatabaseOptions): Database {
  const client = new Client({ url, fetch: (input: string, init) => fetchWithin(deadlineMs, send, input, init) })
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
  return {
    execute: executorOf(client).execute,
    async transaction(work) {
      const transaction = executorOf(client.connection())
      await transaction.execute('BEGIN')
      try {
        const value = await work(transaction)
        await transaction.execute('COMMIT')
        return value
      } catch (error) {
        // Once more if the request was lost on the way: what is not rolled back keeps its locks until the server ends it (after
        // 20 s on PlanetScale). The first error counts.
        const rollBack = () => transaction.execute('ROLLBACK')
        await rollBack()
          .catch(rollBack)
          .catch(() => {})
        throw error
      }
    },
  }
}

/**
 * A fetch that is given up after a time, its body included: the driver has neither a deadline nor an abort. The body is read
 * here, and handed over as the little of a response that the driver uses: a second Response around it would cost as much
 * again as everything else.
 *
 * The timer is cleared, rather than left to `AbortSignal.timeout`, because workerd allows 10,000 timers at a time and a
 * roll-up's statements could pile them up.
 */
async function fetchWithin(deadlineMs: number, send: typeof fetch, input: string, init: unknown): Promise<Answer> {
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

type Answer = Pick<Response, 'ok' | 'status' | 'statusText' | 'headers' | 'text'>
