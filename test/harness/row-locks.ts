import type { TestDatabase } from './database.ts'

/** Errors of lock conflicts: a deadlock, and a lock wait that timed out. */
const LOCK_ERRORS = /\(errno (1213|1205)\)/g

/** MariaDB renews its tables of locks only if nobody has read them for 100 ms (`CACHE_MIN_IDLE_NS` in `trx0i_s.cc`). */
const STALE_MS = 120

/** Reads what the server knows about row locks. */
export class RowLocks {
  readonly #db: TestDatabase
  readonly product: 'MySQL' | 'MariaDB'

  private constructor(db: TestDatabase, product: 'MySQL' | 'MariaDB') {
    this.#db = db
    this.product = product
  }

  static async of(db: TestDatabase): Promise<RowLocks> {
    const { rows } = await db.execute('SELECT VERSION() AS version')
    return new RowLocks(db, String(rows[0]!.version).includes('MariaDB') ? 'MariaDB' : 'MySQL')
  }

  /** The isolation level of a new session. */
  async isolation(): Promise<string> {
    const { rows } = await this.#db.execute(
      this.product === 'MySQL' ? 'SELECT @@transaction_isolation AS level' : 'SELECT @@tx_isolation AS level',
    )
    return String(rows[0]!.level)
  }

  /** The number of row lock waits of the whole server, other databases included. */
  async waits(): Promise<bigint> {
    const { rows } = await this.#db.execute(`SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'`)
    return BigInt(String(rows[0]!.Value))
  }

  /** The row locks of this database that statements are waiting for. */
  async waiting(): Promise<string[]> {
    if (this.product === 'MariaDB') await new Promise((resolve) => setTimeout(resolve, STALE_MS))
    const { rows } =
      this.product === 'MySQL'
        ? await this.#db.execute(
            `SELECT CONCAT_WS(' ', OBJECT_NAME, INDEX_NAME, LOCK_MODE, LOCK_DATA) AS what
             FROM performance_schema.data_locks
             WHERE LOCK_STATUS = 'WAITING' AND (OBJECT_SCHEMA = ? OR OBJECT_SCHEMA LIKE CONCAT('vt\\_', ?, '\\_%'))`,
            // The second is that of a shard on Vitess.
            [this.#db.name, this.#db.name],
          )
        : await this.#db.execute(
            `SELECT CONCAT_WS(' ', l.lock_table, l.lock_index, l.lock_mode, l.lock_data) AS what
             FROM information_schema.INNODB_LOCK_WAITS AS w
             JOIN information_schema.INNODB_LOCKS AS l ON l.lock_id = w.requested_lock_id
             WHERE l.lock_table LIKE CONCAT('%', ?, '%')`,
            [this.#db.name],
          )
    return rows.map(({ what }) => String(what))
  }

  /** The server's report of the latest deadlock, if that was in this database. */
  async latestDeadlock(): Promise<string> {
    const { rows } = await this.#db.execute('SHOW ENGINE INNODB STATUS')
    const [, text = ''] =
      /LATEST DETECTED DEADLOCK\n-+\n([\s\S]*?)\n-{3,}\nTRANSACTIONS/.exec(String(rows[0]!.Status)) ?? []
    return text.includes(this.#db.name) ? text : ''
  }
}

/**
 * A `fetch` that counts the deadlocks and lock wait time-outs in the answers of the database, even if they are retried. It
 * ignores statements with NOWAIT, for which a taken lock is a normal result.
 */
export class WatchedNetwork {
  /** By error number. */
  readonly lockErrors = new Map<number, number>()

  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const text = await response.text()
    if (/ NOWAIT"/.test(String(init?.body))) return new Response(text, response)
    for (const [, errno] of text.matchAll(LOCK_ERRORS)) {
      this.lockErrors.set(Number(errno), (this.lockErrors.get(Number(errno)) ?? 0) + 1)
    }
    return new Response(text, response)
  }
}
