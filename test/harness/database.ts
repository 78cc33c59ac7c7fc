import { inject } from 'vitest'
import type { Behaviour, RecordedStatement } from '../../local/planetscale/fault-injection.ts'
import { type Database, openDatabase, type Result } from '../../src/database/database.ts'
import { toBigInt } from '../../src/database/values.ts'
import { askEndpoint, behave } from './behave.ts'
import { onVitess } from './on-vitess.ts'
import { takeDatabase } from './taken-databases.ts'
import { withBuckets } from './with-buckets.ts'

/** The columns of tables that tests fill. `names` and `totals` are both in `counters`; a total without a name gets one. */
export const COLUMNS = {
  slotted_counters: 'record_type, record_id, slot, count, batch, kept_until',
  totals: 'record_type, record_id, count, version, rolled_up_at',
  counter_history: 'record_type, record_id, period_start, count',
  counter_periods: 'record_type, record_id, period, period_start, count',
  counter_adjustments: 'record_type, record_id, adjustment_id, kind, adjusted_at, count',
  names: 'record_type, record_id, name',
  type_history: 'record_type, period, period_start, range_lane, count',
}

/** A database for one test, on the real server, through the real driver and the endpoint. */
export interface TestDatabase extends Database {
  name: string
  url: string
  /** Makes the endpoint slow or faulty for this database. Without arguments, makes it normal again. */
  behave(behaviour?: Partial<Behaviour>): Promise<void>
  /** Runs something. Returns its statements, with what the server read for each. */
  recording(work: () => Promise<unknown>): Promise<RecordedStatement[]>
  /** Runs a statement that prepares a test. An INSERT gets its buckets here. It may write to several shards, which the statements of the Worker may not. */
  arrange(sql: string, args?: readonly unknown[]): Promise<Result>
  /** Inserts the rows of a table, each as SQL: its `COLUMNS` in parentheses. */
  insert(table: keyof typeof COLUMNS, rows: string | readonly string[], args?: readonly unknown[]): Promise<Result>
  /** Connects to it once more, with another deadline, through another network or with other ranges. */
  open(options: { deadlineMs: number; fetch?: typeof fetch; ranges?: number }): Database
  /** Reads one number. */
  number(sql: string, args?: readonly unknown[]): Promise<bigint>
}

/** Takes a database with all tables for the current test or, between tests, for the current file. */
export async function freshDatabase(): Promise<TestDatabase> {
  return testDatabase(await takeDatabase())
}

/** Takes a database without tables. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return testDatabase(await takeDatabase({ empty: true }))
}

function testDatabase({ name, databaseUrl }: { name: string; databaseUrl: string }): TestDatabase {
  const database = openDatabase({ url: databaseUrl, deadlineMs: 60_000, ranges: inject('ranges') })
  const local = (path: string, method: string, body?: unknown) => askEndpoint(databaseUrl, path, method, body)
  const arrange: TestDatabase['arrange'] = (written, args) => {
    const sql = withBuckets(written, args)
    if (!onVitess) return database.execute(sql, args)
    return database.transaction(async (transaction) => {
      // The mode stays with the connection, which others use afterwards.
      await transaction.execute(`SET transaction_mode = 'multi'`)
      try {
        return await transaction.execute(sql, args)
      } finally {
        await transaction.execute(`SET transaction_mode = 'single'`)
      }
    })
  }
  return {
    ...database,
    arrange,
    insert: (table, rows, args) => {
      const values = [rows].flat().join()
      if (table === 'names') {
        return arrange(
          `INSERT INTO counters (${COLUMNS.names}) VALUES ${values} ON DUPLICATE KEY UPDATE name = VALUES(name)`,
          args,
        )
      }
      if (table === 'totals') {
        return arrange(
          `INSERT INTO counters (${COLUMNS.totals}, name) VALUES ${values.replaceAll(/\)(?=\s*(,\s*\(|$))/g, ", CONCAT('/', record_id))")}
           ON DUPLICATE KEY UPDATE count = VALUES(count), version = VALUES(version), rolled_up_at = VALUES(rolled_up_at)`,
          args,
        )
      }
      return arrange(`INSERT INTO ${table} (${COLUMNS[table]}) VALUES ${values}`, args)
    },
    open: (options) => openDatabase({ url: databaseUrl, ranges: inject('ranges'), ...options }),
    name,
    url: databaseUrl,
    behave: (behaviour = {}) => behave(databaseUrl, behaviour),
    async recording(work) {
      await local('behaviour', 'PUT', { record: true })
      await local('statements', 'DELETE')
      try {
        await work()
        return (await local('statements', 'GET')) as RecordedStatement[]
      } finally {
        await local('behaviour', 'PUT', {})
      }
    },
    async number(sql, args) {
      const { rows } = await database.execute(sql, args)
      return toBigInt(Object.values(rows[0]!)[0])
    },
  }
}
