import type { Database, Executor } from './database.ts'

/** How long one response took the database. */
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

  /** @param shared whether the same statement answered other requests as well */
  add(milliseconds: number, shared = false): void {
    this.#used = true
    this.#milliseconds += milliseconds
    this.#shared ||= shared
  }

  /** Measures work. Time in which several statements run counts once. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#since = performance.now()
    try {
      return await work()
    } finally {
      if (--this.#running === 0) this.add(performance.now() - this.#since)
    }
  }

  /** A database whose statements are measured. */
  of(database: Database): Database {
    const measured = (executor: Executor): Executor => ({
      execute: (sql, args) => this.measure(() => executor.execute(sql, args)),
    })
    return {
      ...measured(database),
      ranges: database.ranges,
      transaction: (work) => this.measure(() => database.transaction((transaction) => work(transaction))),
    }
  }
}
