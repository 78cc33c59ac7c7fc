import type { Executor } from './database.ts'
import { toBigInt, toJsonNumber } from './values.ts'

/** The SQL modes that refuse values that do not fit. */
const STRICT = /STRICT_(TRANS|ALL)_TABLES/

/** What to do about a server without them. */
export const NOT_STRICT =
  'The sql_mode of the database server lacks STRICT_TRANS_TABLES, so it changes numbers that do not fit instead of refusing them. Add it for all connections.'

/** Reads the server's version, isolation level and SQL mode and, on Vitess, the number of shards. */
export async function readServerIdentity(db: Executor) {
  // transaction_isolation in MySQL 8, tx_isolation in MariaDB before 11.1. SELECT would fail for an unknown variable.
  const values = await readPairs(
    db,
    `SHOW VARIABLES WHERE Variable_name IN ('version', 'transaction_isolation', 'tx_isolation', 'sql_mode')`,
  )
  const version = values.get('version') ?? ''
  return {
    version,
    /** In the server's spelling; `null` if it is not reported. */
    isolation: values.get('transaction_isolation') ?? values.get('tx_isolation') ?? null,
    /** Whether it refuses values that do not fit a column. Otherwise it would store something else without an error. */
    strict: STRICT.test(values.get('sql_mode') ?? 'STRICT_TRANS_TABLES'),
    /** The shards of the keyspace; `null` without Vitess, and if they are not reported. */
    shards: /vitess/i.test(version) ? (await readShards(db).catch(() => 0)) || null : null,
  }
}

/** Reads the number of shards of the keyspace. Source: Vitess, "SHOW VITESS_SHARDS". A shard is listed as `keyspace/range`. */
export async function readShards(db: Executor): Promise<number> {
  const [keyspace] = await readColumn(db, 'SELECT DATABASE() AS keyspace')
  return (await readColumn(db, 'SHOW VITESS_SHARDS')).filter((shard) => shard.startsWith(`${keyspace}/`)).length
}

/** Reads rows of one column. */
export async function readColumn(db: Executor, sql: string): Promise<string[]> {
  return (await db.execute(sql)).rows.map((row) => String(Object.values(row)[0]))
}

/** Reads the sizes of the database's tables from the server's statistics: cheap, but they may be a day old. */
export async function readTableSizes(db: Executor) {
  const { rows } = await db.execute(
    `SELECT TABLE_NAME AS name, TABLE_ROWS AS table_rows, DATA_LENGTH AS data_bytes, INDEX_LENGTH AS index_bytes
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'`,
  )
  const number = (value: unknown) => toJsonNumber(toBigInt(value ?? 0))
  return rows
    .map(({ name, table_rows, data_bytes, index_bytes }) => ({
      name: String(name),
      rows: number(table_rows),
      dataBytes: number(data_bytes),
      indexBytes: number(index_bytes),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Reads InnoDB's statistics of row lock waits, of all clients. `null`: not reported by the server. */
export async function readLockWaits(db: Executor) {
  const values = await readPairs(
    db,
    `SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'Innodb_row_lock_waits', 'Innodb_row_lock_current_waits',
       'Innodb_row_lock_time_avg', 'Innodb_deadlocks')`,
  )
  const number = (name: string) => {
    const value = values.get(name)
    return value === undefined ? null : toJsonNumber(toBigInt(value))
  }
  return {
    /** The start of the server. */
    since: new Date(Date.now() - (number('uptime') ?? 0) * 1_000),
    rowLockWaits: number('innodb_row_lock_waits'),
    rowLockWaitsNow: number('innodb_row_lock_current_waits'),
    rowLockAverageMs: number('innodb_row_lock_time_avg'),
    deadlocks: number('innodb_deadlocks'),
  }
}

async function readPairs(db: Executor, sql: string): Promise<Map<string, string>> {
  const { rows } = await db.execute(sql)
  return new Map(
    rows.map((row) => {
      const [name, value] = Object.values(row)
      return [String(name).toLowerCase(), String(value)]
    }),
  )
}
