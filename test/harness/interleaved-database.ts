import type { Database, Executor } from '../../src/database/database.ts'

/** A database on which something else happens before the first statement that matches. If that throws, the statement fails. */
export function interleaved(
  database: Database,
  match: { test(sql: string): boolean },
  work: () => Promise<unknown>,
): Database {
  let happened = false
  const executorOf = (executor: Executor): Executor => ({
    async execute(sql, args) {
      if (!happened && match.test(sql)) {
        happened = true
        await work()
      }
      return executor.execute(sql, args)
    },
  })
  return {
    ranges: database.ranges,
    execute: executorOf(database).execute,
    transaction: (run) => database.transaction((transaction) => run(executorOf(transaction))),
  }
}

/** Matches the statement at a place, the first one at 0. */
export function statementAt(place: number): { test(sql: string): boolean } {
  let sent = 0
  return { test: () => sent++ === place }
}
