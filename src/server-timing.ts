import { createMiddleware } from 'hono/factory'
import { setMetric, timing } from 'hono/timing'
import type { AppEnv } from './app-env.ts'
import type { Database, Executor } from './database/database.ts'

/** How long one request's answer took the database. */
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

  /** @param shared whether other requests were answered by the same statement */
  add(milliseconds: number, shared = false): void {
    this.#used = true
    this.#milliseconds += milliseconds
    this.#shared ||= shared
  }

  /** Measures what is done meanwhile. Overlapping statements count once. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#since = performance.now()
    try {
      return await work()
    } finally {
      if (--this.#running === 0) this.add(performance.now() - this.#since)
    }
  }

  /** The database, measured. */
  of(database: Database): Database {
    const measured = (executor: Executor): Executor => ({
      execute: (sql, args) => this.measure(() => executor.execute(sql, args)),
    })
    return {
      ...measured(database),
      transaction: (work) => this.measure(() => database.transaction((transaction) => work(transaction))),
    }
  }
}

/**
 * Tells in `Server-Timing` how long an answer took, and how much of that the database: `db` and `total`, in milliseconds. Other
 * sites' scripts may look at it where they may look at the answer.
 */
export const timed = timing({
  totalDescription: 'all of it',
  crossOrigin: (c) => c.res.headers.get('Access-Control-Allow-Origin') ?? false,
})

/** Measures the database for `timed`, before which it must not stand. */
export const databaseTimed = createMiddleware<AppEnv>(async (c, next) => {
  const time = new DatabaseTime()
  c.set('databaseTime', time)
  c.set('db', time.of(c.var.db))
  await next()
  const { result } = time
  if (result !== null) setMetric(c, 'db', result.milliseconds, result.shared ? 'shared' : undefined)
})
