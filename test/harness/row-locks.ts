import type { TestDatabase } from './database.ts'

/** Errors that a statement meets when others hold what it wants: a deadlock, and a wait that took too long. */
const LOCK_ERRORS = /\(errno (1213|1205)\)/g

/** What a server tells about row locks. */
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

  /** How often any statement on this server has waited for a row lock, those of other databases included. */
  async waits(): Promise<bigint> {
    const { rows } = await this.#db.execute(`SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'`)
    return BigInt(String(rows[0]!.Value))
  }

  /** The row locks of this database that somebody is waiting for at this moment. */
  async waiting(): Promise<string[]> {
    const { rows } =
      this.product === 'MySQL'
        ? await this.#db.execute(
            `SELECT CONCAT_WS(' ', OBJECT_NAME, INDEX_NAME, LOCK_MODE, LOCK_DATA) AS what
             FROM performance_schema.data_locks WHERE OBJECT_SCHEMA = ? AND LOCK_STATUS = 'WAITING'`,
            [this.#db.name],
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

  /** What the server remembers of the latest deadlock, if it was in this database. */
  async latestDeadlock(): Promise<string> {
    const { rows } = await this.#db.execute('SHOW ENGINE INNODB STATUS')
    const [, text = ''] =
      /LATEST DETECTED DEADLOCK\n-+\n([\s\S]*?)\n-{3,}\nTRANSACTIONS/.exec(String(rows[0]!.Status)) ?? []
    return text.includes(this.#db.name) ? text : ''
  }
}

/**
 * A `fetch` that counts the deadlocks and lock wait timeouts in what the database answers, whoever hides them by retrying.
 * That a lock was not to be had at once, where a statement asks for just that, is none.
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
