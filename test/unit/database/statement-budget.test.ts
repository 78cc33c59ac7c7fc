import { describe, expect, it } from 'vitest'
import { countStatements, type Database, type Executor } from '../../../src/database/database.ts'

/** Returns each statement as a row. Fails at the statement FAIL, and at COMMIT if `failingCommit`. */
function echo({ failingCommit = false } = {}): Database {
  const executor: Executor = {
    async execute(sql, args) {
      if (sql === 'FAIL') throw new Error('failed')
      return { rows: [{ sql, args }], rowsAffected: 1 }
    },
  }
  return {
    ...executor,
    ranges: 1,
    async transaction(work) {
      const value = await work(executor)
      if (failingCommit) throw new Error('failed commit')
      return value
    },
  }
}

describe('a database that counts its statements', () => {
  it('counts BEGIN and COMMIT with the statements of a transaction', async () => {
    const db = countStatements(echo())
    await db.execute('SELECT 1')
    expect(db.sent).toBe(1)
    await db.transaction(async (transaction) => {
      await transaction.execute('UPDATE 1')
      await transaction.execute('UPDATE 2')
    })
    expect(db.sent).toBe(5)
    await db.transaction(async () => {})
    expect(db.sent).toBe(7)
  })

  it('counts failed statements, because they were sent', async () => {
    const db = countStatements(echo({ failingCommit: true }))
    await expect(db.execute('FAIL')).rejects.toThrow('failed')
    expect(db.sent).toBe(1)
    await expect(db.transaction((transaction) => transaction.execute('FAIL'))).rejects.toThrow('failed')
    expect(db.sent).toBe(4)
    // BEGIN, UPDATE, COMMIT, and the ROLLBACK after it.
    await expect(db.transaction((transaction) => transaction.execute('UPDATE 1'))).rejects.toThrow('failed commit')
    expect(db.sent).toBe(8)
  })

  it('counts statements before they are answered', () => {
    const db = countStatements({ ...echo(), execute: () => new Promise(() => {}) })
    void db.execute('SELECT 1')
    void db.execute('SELECT 2')
    expect(db.sent).toBe(2)
  })
})
