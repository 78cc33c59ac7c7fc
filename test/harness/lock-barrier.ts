import type { Database, Executor, Result } from '../../src/database/database.ts'
import { DatabaseFailure } from '../../src/database/errors.ts'

/** Less than the 20 s after which a transaction is ended from outside. */
const PATIENCE_MS = 15_000

/**
 * A database whose statements keep their locks until a given number of them have run. So none of them can have waited for
 * another one's lock: if one does, the others wait for it in vain, and all of them fail.
 */
export class LockBarrier implements Executor {
  readonly #database: Database
  readonly #waiting: () => Promise<string[]>
  #match = /^/
  #expected = 0
  #held = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #all = Promise.withResolvers<void>()

  /** @param waiting tells which locks somebody waits for, for when that happens */
  constructor(database: Database, waiting: () => Promise<string[]>) {
    this.#database = database
    this.#waiting = waiting
  }

  /**
   * Lets so many statements hold their locks at once while something runs that sends them.
   *
   * @param match those that are meant; others go their ways
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
