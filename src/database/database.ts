import { Client, type Connection, cast } from '@planetscale/database'
import { classify } from './errors.ts'

export interface Result {
  rows: Record<string, unknown>[]
  /** Rows matched or changed. An upsert counts 1 for an insert, and 2 for an update that changed something. */
  rowsAffected: number
  /** An earlier attempt had an unknown outcome. It may still arrive, after this result and after later statements. */
  straggler?: true
}

export interface Executor {
  /** @param sql one statement, with `?` for each argument @throws {DatabaseFailure} for every error, classified */
  execute(sql: string, args?: readonly unknown[]): Promise<Result>
}

/** A MySQL-family database behind PlanetScale's HTTP API. */
export interface Database extends Executor {
  /** The number of ranges of record ids: see `src/counters/ranges.ts`. */
  readonly ranges: number
  /** Runs `work` between BEGIN and COMMIT, or rolls back and throws the first error. A failed COMMIT has an unknown outcome. */
  transaction<T>(work: (transaction: Executor) => Promise<T>): Promise<T>
}

interface DatabaseOptions {
  url: string
  /** The time-out of a statement, in milliseconds. After it, the outcome is unknown. */
  deadlineMs: number
  ranges?: number
  fetch?: typeof fetch
}

/** Sends nothing until the first statement. Statements outside transactions have their own sessions: requests share nothing. */
export function openDatabase({ url, deadlineMs, ranges = 1, fetch: send = fetch }: DatabaseOptions): Database {
  const client = new Client({ url, cast: castQuickly, fetch: fetchWithin(deadlineMs, send) })
  const executorOf = (connection: Connection | Client): Executor => ({
    async execute(sql, args) {
      const sent = connection === client ? sql.replace(FIRST_SELECT, `$& ${NOT_CONSOLIDATED}`) : sql
      try {
        const { rows, rowsAffected } = await connection.execute(sent, args ? [...args] : null)
        return { rows: rows as Record<string, unknown>[], rowsAffected }
      } catch (error) {
        throw classify(error)
      }
    },
  })
  return {
    ...executorOf(client),
    ranges,
    async transaction(work) {
      const transaction = executorOf(client.connection())
      await transaction.execute('BEGIN')
      try {
        const value = await work(transaction)
        await transaction.execute('COMMIT')
        return value
      } catch (error) {
        const rollBack = () => transaction.execute('ROLLBACK')
        // Repeated once if it is lost: the transaction would keep its locks until the server ends it (after 20 s on PlanetScale).
        await Promise.allSettled([rollBack().catch(rollBack)])
        throw error
      }
    },
  }
}

const ASCII = /^[\0-\x7f]*$/

/** Converts a value as the driver does, except ASCII text, which the driver would decode byte by byte. */
function castQuickly(field: Parameters<typeof cast>[0], value: string | null): unknown {
  return (field.type === 'VARCHAR' || field.type === 'TEXT') && value !== null && ASCII.test(value)
    ? value
    : cast(field, value)
}

export const FIRST_SELECT = /^[\s(]*SELECT\b/

/**
 * Tells vttablet to run a SELECT even if an identical one is running. Otherwise both get the result of the first (the consolidator),
 * whose snapshot can lack a hit that was acknowledged before. Source: Vitess `go/vt/sqlparser/comments.go`, `getConsolidator`.
 */
const NOT_CONSOLIDATED = '/*vt+ CONSOLIDATOR=disabled */'

/**
 * Fetches with a time-out that includes the body. Returns only what the driver uses: another Response object would double the cost. The
 * timer is cleared, unlike that of `AbortSignal.timeout`: workerd allows 10,000 at a time, which a roll-up could exceed.
 */
function fetchWithin(deadlineMs: number, send: typeof fetch) {
  return async (input: string, init: unknown) => {
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
}

/** Counts the statements sent to a database, each a subrequest of the Worker, including BEGIN and COMMIT. */
export function countStatements(database: Database): Database & { readonly sent: number } {
  let sent = 0
  const counted = (executor: Executor): Executor => ({
    execute(sql, args) {
      sent++
      return executor.execute(sql, args)
    },
  })
  return {
    get sent() {
      return sent
    },
    ranges: database.ranges,
    ...counted(database),
    async transaction(work) {
      sent += 2 // BEGIN, and COMMIT or ROLLBACK
      let worked = false
      try {
        return await database.transaction(async (transaction) => {
          const value = await work(counted(transaction))
          worked = true
          return value
        })
      } catch (error) {
        if (worked) sent++ // a failed COMMIT is followed by ROLLBACK
        throw error
      }
    },
  }
}
