import type { Executor } from './database.ts'
import { toBigInt } from './numbers.ts'

/** What the server says it is. */
export interface ServerIdentity {
  version: string
  /** As the server spells it; `null` if it does not say. */
  isolation: string | null
}

/** How large a table is, as the server estimates. */
export interface TableSize {
  name: string
  rows: bigint
  dataBytes: bigint
  indexBytes: bigint
}

/** How often InnoDB's transactions have waited for each other's row locks, whoever sent them. `null`: the server does not say. */
export interface LockWaits {
  /** Since when the server counts. */
  since: Date
  waits: bigint | null
  /** How many wait now. */
  waiting: bigint | null
  /** Milliseconds that one wait took on average. */
  averageMs: bigint | null
  deadlocks: bigint | null
}

/**
 * Asks the server what it is.
 *
 * @throws {DatabaseFailure}
 */
export async function readServerIdentity(db: Executor): Promise<ServerIdentity> {
  // Two names: MySQL 8 calls the level transaction_isolation, MariaDB before 11.1 tx_isolation, and a SELECT of the wrong one fails.
  const values = await readPairs(
    db,
    `SHOW VARIABLES WHERE Variable_name IN ('version', 'transaction_isolation', 'tx_isolation')`,
  )
  return {
    version: values.get('version') ?? '',
    isolation: values.get('transaction_isolation') ?? values.get('tx_isolation') ?? null,
  }
}

/**
 * Reads the sizes of the database's tables from the server's statistics, which cost nothing to look at and may be a day old.
 *
 * @throws {DatabaseFailure}
 */
export async function readTableSizes(db: Executor): Promise<TableSize[]> {
  const { rows } = await db.execute(
    `SELECT TABLE_NAME AS name, TABLE_ROWS AS table_rows, DATA_LENGTH AS data_bytes, INDEX_LENGTH AS index_bytes
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'`,
  )
  return rows
    .map(({ name, table_rows, data_bytes, index_bytes }) => ({
      name: String(name),
      rows: toBigInt(table_rows ?? 0),
      dataBytes: toBigInt(data_bytes ?? 0),
      indexBytes: toBigInt(index_bytes ?? 0),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Reads the server's own counters of row lock waits.
 *
 * @throws {DatabaseFailure}
 */
export async function readLockWaits(db: Executor): Promise<LockWaits> {
  const values = await readPairs(
    db,
    `SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'Innodb_row_lock_waits', 'Innodb_row_lock_current_waits',
       'Innodb_row_lock_time_avg', 'Innodb_deadlocks')`,
  )
  const number = (name: string) => {
    const value = values.get(name)
    return value === undefined ? null : toBigInt(value)
  }
  return {
    since: new Date(Date.now() - Number(number('uptime') ?? 0n) * 1_000),
    waits: number('innodb_row_lock_waits'),
    waiting: number('innodb_row_lock_current_waits'),
    averageMs: number('innodb_row_lock_time_avg'),
    deadlocks: number('innodb_deadlocks'),
  }
}

/** Names, in lower case, and values. */
async function readPairs(db: Executor, sql: string): Promise<Map<string, string>> {
  const { rows } = await db.execute(sql)
  return new Map(
    rows.map((row) => {
      const [name, value] = Object.values(row)
      return [String(name).toLowerCase(), String(value)]
    }),
  )
}
