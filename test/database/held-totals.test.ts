import { beforeEach, describe, expect, it } from 'vitest'
import type { Counter } from '../../src/counters/counter.ts'
import { importCounts } from '../../src/counters/imports.ts'
import { random64 } from '../../src/counters/random.ts'
import { setCounter } from '../../src/counters/set.ts'
import { Overtaken } from '../../src/counters/totals.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const COUNTER: Counter = { recordType: 1, recordId: 7n, name: '/held' }
/** So short that a statement which waits for a lock is given up while it does. */
const DEADLINE_MS = 1_000

let db: TestDatabase
let impatient: Database
beforeEach(async () => {
  db = await freshDatabase()
  impatient = openDatabase({ url: db.url, deadlineMs: DEADLINE_MS })
  await db.execute('INSERT INTO counter_totals VALUES (1, 7, 40, 3, NULL)')
})

/** Takes the row lock of the counter's total, as a transaction that was cut off has it, until what it returns is called. */
async function hold(): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const holding = db.transaction(async (transaction) => {
    await transaction.execute('UPDATE counter_totals SET count = count WHERE record_type = 1 AND record_id = 7')
    held.resolve()
    await over.promise
  })
  await held.promise
  return () => {
    over.resolve()
    return holding
  }
}

describe('while a transaction that was cut off keeps the lock of a total', () => {
  it.each([
    ['a setting', (on: Database) => setCounter(on, COUNTER, { count: 5n, id: random64(), at: new Date() })],
    [
      'an import',
      (on: Database) =>
        importCounts(on, [{ counter: COUNTER, count: 5n, day: null }], { id: random64(), at: new Date() }),
    ],
  ])(
    '%s fails, certain that nothing changed, and leaves nothing that waits for the lock in its place',
    async (_, adjust) => {
      const letGo = await hold()
      const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => adjust(impatient)))
      expect(attempts.map((attempt) => attempt.status === 'rejected' && attempt.reason)).toEqual(
        attempts.map(() => expect.any(Overtaken)),
      )
      const waiting = `SELECT COUNT(*) FROM information_schema.PROCESSLIST
      WHERE DB = DATABASE() AND COMMAND <> 'Sleep' AND INFO LIKE '%counter_totals%' AND ID <> CONNECTION_ID()`
      expect(await db.number(waiting)).toBe(0n)
      await letGo()
      await expect(adjust(impatient)).resolves.toMatch(/set|imported/)
      expect(await db.number('SELECT COUNT(*) FROM counter_adjustments')).toBe(1n)
    },
  )
})
