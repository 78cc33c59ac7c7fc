import type { DatabaseConnection } from '../database-connection.ts'

/** A transaction that waits for a row which another transaction has locked. */
export interface LockWait {
  table: string
  /** The index; `null` if the server does not say. */
  index: string | null
  /** The row's values in that index, as the server writes them; `null` for a gap, or if the server does not say. */
  row: string | null
  waiting: LockParty
  /** `lastStatement`: the one before, if the server reports it. */
  holding: LockParty & { lastStatement: string | null }
}

interface LockParty {
  connection: string
  /** The statement that is running; `null` while the transaction is open between two statements. */
  statement: string | null
  /** Seconds for which it has waited, or for which its transaction has been open. */
  seconds: number
}

export type Product = 'MySQL' | 'MariaDB'

/** The product, version and current database of a server. */
export async function serverOf(
  db: DatabaseConnection,
): Promise<{ product: Product; version: string; database: string }> {
  const [row] = await db.execute('SELECT VERSION() AS version, DATABASE() AS name')
  const version = String(row?.version)
  return {
    product: version.includes('MariaDB') ? 'MariaDB' : 'MySQL',
    version: version.split('-')[0]!,
    database: String(row?.name),
  }
}

/** The present in the time zone of the server's system: InnoDB's times are in that one, not in the session's. */
const NOW = "CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')"

/** What is read of the transaction that waits, `rt`, and of the one that blocks it, `bt`. */
const TRANSACTIONS = `
    rt.trx_mysql_thread_id AS waiting, rt.trx_query AS waiting_query,
    TIMESTAMPDIFF(SECOND, rt.trx_wait_started, ${NOW}) AS waited,
    bt.trx_mysql_thread_id AS holding, bt.trx_query AS holding_query,
    TIMESTAMPDIFF(SECOND, bt.trx_started, ${NOW}) AS held`

const WAITS: Record<Product, string> = {
  // Vitess names the schema of a keyspace vt_ and the keyspace.
  MySQL: `
  SELECT r.OBJECT_NAME AS tbl, r.INDEX_NAME AS idx, r.LOCK_DATA AS row_data, bs.SQL_TEXT AS holding_last, ${TRANSACTIONS}
  FROM performance_schema.data_lock_waits AS w
  JOIN performance_schema.data_locks AS r ON r.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
  JOIN information_schema.INNODB_TRX AS rt ON rt.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
  JOIN information_schema.INNODB_TRX AS bt ON bt.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
  LEFT JOIN performance_schema.events_statements_current AS bs ON bs.THREAD_ID = w.BLOCKING_THREAD_ID
  WHERE r.OBJECT_SCHEMA IN (DATABASE(), CONCAT('vt_', DATABASE()))`,
  MariaDB: `
  SELECT r.lock_table AS tbl, r.lock_index AS idx, r.lock_data AS row_data, NULL AS holding_last, ${TRANSACTIONS}
  FROM information_schema.INNODB_LOCK_WAITS AS w
  JOIN information_schema.INNODB_LOCKS AS r ON r.lock_id = w.requested_lock_id
  JOIN information_schema.INNODB_TRX AS rt ON rt.trx_id = w.requesting_trx_id
  JOIN information_schema.INNODB_TRX AS bt ON bt.trx_id = w.blocking_trx_id
  WHERE r.lock_table LIKE CONCAT('\`', DATABASE(), '\`.%')`,
}

/**
 * Reads the lock waits of this moment in the current database, the longest first; at most 200.
 * @throws {Error} if the database user may not see them
 */
export async function readLockWaits(db: DatabaseConnection, product: Product): Promise<LockWait[]> {
  const rows = await db.execute(`${WAITS[product]} ORDER BY rt.trx_wait_started, waiting LIMIT 200`)
  const text = (value: unknown) => (value == null ? null : String(value))
  return rows.map((row) => ({
    // MariaDB: `database`.`table`.
    table: String(row.tbl).replace(/^`.*`\.`|`$/g, ''),
    index: text(row.idx),
    row: text(row.row_data),
    waiting: {
      connection: String(row.waiting),
      statement: text(row.waiting_query),
      seconds: Number(row.waited ?? 0),
    },
    holding: {
      connection: String(row.holding),
      statement: text(row.holding_query),
      lastStatement: text(row.holding_last),
      seconds: Number(row.held ?? 0),
    },
  }))
}
