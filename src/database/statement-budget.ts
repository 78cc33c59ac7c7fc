import type { Database, Executor } from './database.ts'

export interface CountedDatabase extends Database {
  readonly sent: number
}

/** Counts the statements sent to a database, each a subrequest of the Worker, including BEGIN and COMMIT. */
export function countStatements(database: Database): CountedDatabase {
  let sent = 0
  const counted = (executor: Executor): Executor => ({
    execute(sql, args) {
      sent++
      return executor.execute(sql, args)
    },
  })
  return {
    get sent() {
      return sent
    },
    ranges: database.ranges,
    execute: counted(database).execute,
    async transaction(work) {
      sent += 2 // BEGIN, and COMMIT or ROLLBACK
      let worked = false
      try {
        return await database.transaction(async (transaction) => {
          const value = await work(counted(transaction))
          worked = true
          return value
        })
      } catch (error) {
        if (worked) sent++ // a failed COMMIT is followed by ROLLBACK
        throw error
      }
    },
  }
}
