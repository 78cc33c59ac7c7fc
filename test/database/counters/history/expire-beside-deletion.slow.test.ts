import { expect, it } from 'vitest'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { expireHours } from '../../../../src/counters/old-rows.ts'
import type { Database } from '../../../../src/database/database.ts'
import { DatabaseFailure } from '../../../../src/database/errors.ts'
import { freshDatabase } from '../../../harness/database.ts'
import { interleaved, statementAt } from '../../../harness/interleaved-database.ts'
import { countAll, expectExact, move, rollUpAt } from '../../../harness/moves.ts'
import { onVitess } from '../../../harness/on-vitess.ts'
import { RowLocks } from '../../../harness/row-locks.ts'

const AT = new Date('2026-11-20T10:17:00Z')
/** An hour that expires, and one that is kept. */
const HOURS = ['2026-10-09T18:00:00Z', '2026-10-11T01:00:00Z']

/** Again after a failure that may pass, as the next cron does: with so few rows, DELETE may lock more than its rows. */
async function expire(db: Database, recordType: number): Promise<void> {
  try {
    await expireHours(db, { hourDays: 40, pageHours: 3, maxStatements: 1_000, recordTypes: [recordType], at: AT })
  } catch (error) {
    if (!(error instanceof DatabaseFailure && error.retry)) throw error
    await expire(db, recordType)
  }
}

// In front of a vtgate, the endpoint sets no isolation level.
it.skipIf(onVitess).each(['REPEATABLE READ', 'READ COMMITTED'] as const)(
  'A deletion at any moment beside the expiry of hours leaves the type the hours of its other counters (%s)',
  async (isolation) => {
    const db = await freshDatabase()
    const locks = await RowLocks.of(db)
    await db.behave({ isolation })
    /** Counters of a type of their own, each with 10 in each hour. */
    const fill = async (recordType: number) => {
      const counters = [0, 1].map((n) => ({ recordType, recordId: BigInt(recordType * 2 + n), name: `/${n}` }))
      await ensureNames(db, counters)
      for (const hour of HOURS) {
        await countAll(
          db,
          counters.map((counter) => ({ counter, by: 10n })),
        )
        await rollUpAt(db, new Date(hour))
      }
      return counters[0]!
    }
    const expectHours = async (moment: string, recordType: number) => {
      const { rows } = await db.execute(
        `SELECT CAST(period_start AS CHAR) AS at, SUM(count) AS count FROM type_history
         WHERE record_type = ${recordType} AND period = 0 GROUP BY period_start HAVING SUM(count) <> 0`,
      )
      expect([moment, rows]).toEqual([moment, [{ at: '2026-10-11 01:00:00', count: '10' }]])
    }
    for (let place = 0; place < 7; place++) {
      const counter = await fill(1 + place)
      await expire(
        interleaved(db, statementAt(place), () => move(db, counter)),
        1 + place,
      )
      await move(db, counter).catch((error: unknown) => expect(error).toMatchObject({ reason: 'no_such_counter' }))
      await expectHours(`before statement ${place} of the expiry`, 1 + place)
    }
    for (let place = 0; place < 10; place++) {
      const counter = await fill(11 + place)
      let expiring: Promise<void> | undefined
      const deleting = interleaved(db, statementAt(place), async () => {
        let over = false
        expiring = expire(db, 11 + place).finally(() => {
          over = true
        })
        // As far as it gets beside the deletion.
        while (!over && (await locks.waiting()).length === 0);
      })
      await move(deleting, counter)
      await (expiring ?? expire(db, 11 + place))
      await expectHours(`before statement ${place} of the deletion`, 11 + place)
    }
    await expectExact(db)
  },
)
