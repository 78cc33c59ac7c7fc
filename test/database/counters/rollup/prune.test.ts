import { beforeEach, describe, expect, it } from 'vitest'
import { prune } from '../../../../src/counters/old-rows.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const SETTINGS = { pageSlots: 10, maxStatements: 100 }

describe('Pruning', () => {
  let db: TestDatabase
  /** The hour in which a test began, by the clock of the database. */
  let began: bigint
  const hour = () => db.number('SELECT FLOOR(UNIX_TIMESTAMP() / 3600)')
  const put = (slot: number, count: number, hoursAgo: number) =>
    db.insert('slotted_counters', '(1, 1, ?, ?, 1, ?)', [slot, count, began - BigInt(hoursAgo)])
  const slots = async () => {
    const { rows } = await db.execute('SELECT slot FROM slotted_counters ORDER BY slot')
    return rows.map(({ slot }) => Number(slot))
  }
  beforeEach(async () => {
    db = await freshDatabase()
    began = await hour()
  })

  it('deletes slots that are empty and need not be kept any longer, and no others', async () => {
    await put(1, 0, 1)
    await put(2, 5, 1)
    await put(3, -5, 1_000)
    await put(4, 0, 0)
    await put(5, 0, -3)
    await put(6, 0, 1_000)
    const { outcome, deleted } = await prune(db, SETTINGS)
    const kept = await slots()
    expect([outcome, deleted]).toEqual(['complete', 6 - kept.length])
    // If an hour ends during the test, the fourth slot need not be kept by then.
    const ended = (await hour()) > began
    expect(
      ended
        ? [
            [2, 3, 4, 5],
            [2, 3, 5],
          ]
        : [[2, 3, 4, 5]],
    ).toContainEqual(kept)
  })

  it('works in pages, skips slots that it must not delete, and reads each old slot once', async () => {
    for (let slot = 0; slot < 95; slot++) await put(slot, slot % 3 === 0 ? 1 : 0, 30 + (slot % 7))
    const statements = await db.recording(async () => {
      expect(await prune(db, SETTINGS)).toMatchObject({ outcome: 'complete', deleted: 63 })
    })
    expect((await slots()).every((slot) => slot % 3 === 0)).toBe(true)
    const read = statements
      .filter(({ sql }) => sql.startsWith('SELECT'))
      .reduce((sum, { rowsRead }) => sum + rowsRead, 0)
    // On Vitess, the endpoint cannot tell.
    if (!onVitess) expect(read).toBeLessThan(95 + 2 * statements.length)
  })

  it('says which budget it stopped at', async () => {
    await put(1, 0, 30)
    const nothing = { outcome: 'partial', deleted: 0, statements: 0 }
    expect(await prune(db, { ...SETTINGS, maxStatements: 1 })).toMatchObject({ ...nothing, stoppedBy: 'statements' })
    expect(await prune(db, { ...SETTINGS, maxSeconds: 0 })).toMatchObject({ ...nothing, stoppedBy: 'seconds' })
    expect(await prune(db, { ...SETTINGS, maxSeconds: 100 })).toMatchObject({ deleted: 1, stoppedBy: null })
  })

  it('does not delete a slot that is written after it was found', async () => {
    await put(1, 0, 30)
    await put(2, 0, 30)
    const overtaken: TestDatabase = {
      ...db,
      async execute(sql, args) {
        if (sql.startsWith('DELETE')) await db.arrange('UPDATE slotted_counters SET count = 9 WHERE slot = 1')
        return db.execute(sql, args)
      },
    }
    expect(await prune(overtaken, SETTINGS)).toMatchObject({ deleted: 1 })
    expect(await slots()).toEqual([1])
  })
})
