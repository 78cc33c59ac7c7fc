import type { Database, Executor, Result } from '../../src/database/database.ts'
import { DatabaseFailure } from '../../src/database/errors.ts'

/** Milliseconds. Less than the 20 s after which the endpoint ends a transaction. */
const PATIENCE_MS = 15_000

/**
 * A database whose statements keep their locks until a given number of statements have run. If one of them waits for a lock
 * of another, they never all run, and all of them fail.
 */
export class LockBarrier implements Executor {
  readonly #database: Database
  readonly #waiting: () => Promise<string[]>
  #match = /^/
  #expected = 0
  #held = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #all = Promise.withResolvers<void>()

  /** @param waiting returns the locks that statements wait for, for the error message */
  constructor(database: Database, waiting: () => Promise<string[]>) {
    this.#database = database
    this.#waiting = waiting
  }

  /**
   * Runs something that sends statements, and makes this many of them hold their locks at the same time.
   *
   * @param match the statements to hold; others run as usual
   */
  async holding(statements: number, match: RegExp, work: () => Promise<unknown>): Promise<void> {
    this.#match = match
    this.#expected = statements
    this.#held = 0
    this.#all = Promise.withResolvers()
    this.#all.promise.catch(() => {})
    this.#timer = setTimeout(() => void this.#fail(), PATIENCE_MS)
    try {
      await work()
    } finally {
      clearTimeout(this.#timer)
    }
    if (this.#held !== statements) throw new Error(`${this.#held} statements were sent, not ${statements}`)
  }

  get ranges(): number {
    return this.#database.ranges
  }

  execute(sql: string, args?: readonly unknown[]): Promise<Result> {
    if (!this.#match.test(sql)) return this.#database.execute(sql, args)
    return this.#database.transaction(async (transaction) => {
      const result = await transaction.execute(sql, args)
      if (++this.#held === this.#expected) this.#all.resolve()
      await this.#all.promise
      return result
    })
  }

  async #fail(): Promise<void> {
    const waiting = [...new Set(await this.#waiting())].join('; ')
    const error = new Error(`${this.#held} of ${this.#expected} statements got their locks; awaited: ${waiting}`)
    this.#all.reject(new DatabaseFailure({ kind: 'contention', retry: false, applied: 'no' }, error))
  }
}
