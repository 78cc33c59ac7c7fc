import type { DatabaseTarget } from './database-target.ts'

/** One transaction waiting for a row that another one holds. */
export interface LockWait {
  table: string
  /** The index, and the values of the row in it as the server writes them; `null`: a gap, or not told. */
  index: string | null
  row: string | null
  waiting: LockParty
  holding: LockParty
}

/** One side of a wait. */
export interface LockParty {
  connection: string
  /** What it is running; `null`: nothing at this moment, its transaction is open between two statements. */
  statement: string | null
  /** What it ran last, where the server tells. */
  lastStatement: string | null
  /** Seconds that it has waited, or that its transaction has been open. */
  seconds: number
}

export type Product = 'MySQL' | 'MariaDB'

/** Which server it is. */
export async function serverOf(db: DatabaseTarget): Promise<{ product: Product; version: string; database: string }> {
  const [row] = await db.execute('SELECT VERSION() AS version, DATABASE() AS name')
  const version = String(row?.version)
  return {
    product: version.includes('MariaDB') ? 'MariaDB' : 'MySQL',
    version: version.split('-')[0]!,
    database: String(row?.name),
  }
}

// Vitess calls a keyspace's own schema vt_ and its name.
const MYSQL_WAITS = `
  SELECT r.OBJECT_NAME AS tbl, r.INDEX_NAME AS idx, r.LOCK_DATA AS row_data,
    rt.trx_mysql_thread_id AS waiting, rt.trx_query AS waiting_query, NULL AS waiting_last,
    TIMESTAMPDIFF(SECOND, rt.trx_wait_started, NOW()) AS waited,
    bt.trx_mysql_thread_id AS holding, bt.trx_query AS holding_query, bs.SQL_TEXT AS holding_last,
    TIMESTAMPDIFF(SECOND, bt.trx_started, NOW()) AS held
  FROM performance_schema.data_lock_waits AS w
  JOIN performance_schema.data_locks AS r ON r.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
  JOIN information_schema.INNODB_TRX AS rt ON rt.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
  JOIN information_schema.INNODB_TRX AS bt ON bt.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
  LEFT JOIN performance_schema.events_statements_current AS bs ON bs.THREAD_ID = w.BLOCKING_THREAD_ID
  WHERE r.OBJECT_SCHEMA IN (DATABASE(), CONCAT('vt_', DATABASE())) ORDER BY rt.trx_wait_started, waiting LIMIT 200`

const MARIADB_WAITS = `
  SELECT r.lock_table AS tbl, r.lock_index AS idx, r.lock_data AS row_data,
    rt.trx_mysql_thread_id AS waiting, rt.trx_query AS waiting_query, NULL AS waiting_last,
    TIMESTAMPDIFF(SECOND, rt.trx_wait_started, NOW()) AS waited,
    bt.trx_mysql_thread_id AS holding, bt.trx_query AS holding_query, NULL AS holding_last,
    TIMESTAMPDIFF(SECOND, bt.trx_started, NOW()) AS held
  FROM information_schema.INNODB_LOCK_WAITS AS w
  JOIN information_schema.INNODB_LOCKS AS r ON r.lock_id = w.requested_lock_id
  JOIN information_schema.INNODB_TRX AS rt ON rt.trx_id = w.requesting_trx_id
  JOIN information_schema.INNODB_TRX AS bt ON bt.trx_id = w.blocking_trx_id
  WHERE r.lock_table LIKE CONCAT('\`', DATABASE(), '\`.%') ORDER BY rt.trx_wait_started, waiting LIMIT 200`

/**
 * Who waits for whom in the current database, at this moment, the longest wait first; at most 200.
 *
 * @throws {Error} if the user may not see it
 */
export async function readLockWaits(db: DatabaseTarget, product: Product): Promise<LockWait[]> {
  const rows = await db.execute(product === 'MySQL' ? MYSQL_WAITS : MARIADB_WAITS)
  const text = (value: unknown) => (value === null || value === undefined ? null : String(value))
  return rows.map((row) => ({
    // MariaDB: `database`.`table`.
    table: String(row.tbl).replace(/^`.*`\.`|`$/g, ''),
    index: text(row.idx),
    row: text(row.row_data),
    waiting: {
      connection: String(row.waiting),
      statement: text(row.waiting_query),
      lastStatement: text(row.waiting_last),
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

/** What the server has counted since it started, over all databases. Milliseconds. */
export interface LockTotals {
  waits: number
  averageMs: number
  longestMs: number
  waitingNow: number
  deadlocks: number | null
  timeouts: number | null
  upSeconds: number
}

/** @throws {Error} if the user may not see it */
export async function readLockTotals(db: DatabaseTarget): Promise<LockTotals> {
  const rows = await db.execute(
    `SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'Innodb_deadlocks', 'Innodb_row_lock_waits', 'Innodb_row_lock_time_avg',
       'Innodb_row_lock_time_max', 'Innodb_row_lock_current_waits')`,
  )
  const status = new Map(rows.map((row) => [String(row.Variable_name).toLowerCase(), Number(row.Value)]))
  if (!status.has('innodb_row_lock_waits')) throw new Error('SHOW GLOBAL STATUS leaves out the counters of row locks')
  // Told by the metrics of MySQL, and by the status of MariaDB.
  const metrics = await db
    .execute(
      `SELECT NAME AS name, COUNT AS count FROM information_schema.INNODB_METRICS WHERE NAME IN ('lock_deadlocks', 'lock_timeouts')`,
    )
    .catch(() => [])
  const counted = new Map(metrics.map((row) => [String(row.name), Number(row.count)]))
  return {
    waits: status.get('innodb_row_lock_waits') ?? 0,
    averageMs: status.get('innodb_row_lock_time_avg') ?? 0,
    longestMs: status.get('innodb_row_lock_time_max') ?? 0,
    waitingNow: status.get('innodb_row_lock_current_waits') ?? 0,
    deadlocks: status.get('innodb_deadlocks') ?? counted.get('lock_deadlocks') ?? null,
    timeouts: counted.get('lock_timeouts') ?? null,
    upSeconds: status.get('uptime') ?? 0,
  }
}

/** The columns of each index of the current database, by `table.index`; what a secondary index leaves out of the primary key follows. */
export async function readIndexColumns(db: DatabaseTarget): Promise<Map<string, string[]>> {
  const rows = await db.execute(
    `SELECT TABLE_NAME AS tbl, INDEX_NAME AS idx, COLUMN_NAME AS col FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
  )
  const columns = new Map<string, string[]>()
  for (const { tbl, idx, col } of rows) {
    const key = `${tbl}.${idx}`
    columns.set(key, [...(columns.get(key) ?? []), String(col)])
  }
  for (const [key, own] of columns) {
    const primary = columns.get(`${key.slice(0, key.indexOf('.'))}.PRIMARY`) ?? []
    columns.set(key, [...own, ...primary.filter((column) => !own.includes(column))])
  }
  return columns
}
