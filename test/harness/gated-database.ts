import type { Executor } from '../../src/database/database.ts'

/** A database that holds back statements, loses some, and records all. */
export class GatedDatabase implements Executor {
  readonly sent: string[] = []
  readonly #db: Executor
  #gate: Promise<void> = Promise.resolve()
  #lost = 0

  constructor(db: Executor) {
    this.#db = db
  }

  /** Holds back statements. Returns a function that lets them go. */
  close(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  /** Loses the next statements. Their senders never get an answer, as if they had died. */
  lose(statements: number): void {
    this.#lost = statements
  }

  async execute(sql: string, args?: readonly unknown[]) {
    this.sent.push(sql)
    if (this.#lost-- > 0) return new Promise<never>(() => {})
    await this.#gate
    return this.#db.execute(sql, args)
  }
}
