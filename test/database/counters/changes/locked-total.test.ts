import { beforeEach, describe, expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/changes/import-counts.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import { Overtaken } from '../../../../src/counters/ledger/totals.ts'
import type { Database } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { setCounter } from '../../../harness/moves.ts'

const COUNTER: CounterAddress = { recordType: 1, recordId: 7n, name: '/held' }
/** So short that a statement is given up while it waits for a lock. */
const DEADLINE_MS = 5_000

let db: TestDatabase
let impatient: Database
beforeEach(async () => {
  db = await freshDatabase()
  impatient = db.open({ deadlineMs: DEADLINE_MS })
  await db.insert('totals', '(1, 7, 40, 3, NULL)')
})

/** Locks the row of the counter's total, as a transaction that was cut off does. Returns a function that releases the lock. */
async function hold(): Promise<() => Promise<void>> {
  // Longer than any attempt takes on a busy machine.
  await db.behave({ transactionMs: 100_000 })
  const held = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const holding = db.transaction(async (transaction) => {
    await transaction.execute(
      'UPDATE counters SET count = count WHERE record_type = 1 AND record_id = 7 AND bucket = 397',
    )
    held.resolve()
    await over.promise
  })
  await held.promise
  return () => {
    over.resolve()
    return holding
  }
}

describe('While a transaction that was cut off locks a total', () => {
  it.each([
    [
      'a set',
      async (on: Database) => {
        const setting = { count: 5n, id: random63(), at: new Date() }
        return await setCounter(on, COUNTER, setting)
      },
    ],
    [
      'an import',
      (on: Database) =>
        importCounts(on, [{ counter: COUNTER, count: 5n, day: null }], {
          id: random63(),
          at: new Date(),
        }),
    ],
  ])(
    '%s fails with the certainty that nothing changed, and leaves no statement that waits for the lock',
    async (_, adjust) => {
      const letGo = await hold()
      const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => adjust(impatient)))
      expect(attempts.map((attempt) => attempt.status === 'rejected' && attempt.reason)).toEqual(
        attempts.map(() => expect.any(Overtaken)),
      )
      const waiting = `SELECT COUNT(*) FROM information_schema.PROCESSLIST
      WHERE DB LIKE CONCAT('%', DATABASE(), '%') AND COMMAND <> 'Sleep' AND INFO LIKE '%counters%' AND INFO NOT LIKE '%PROCESSLIST%'`
      expect(await db.number(waiting)).toBe(0n)
      await letGo()
      await expect(adjust(impatient)).resolves.toMatch(/set|done/)
      expect(await db.number('SELECT COUNT(*) FROM counter_adjustments')).toBe(1n)
    },
  )
})
