import { describe, expect, it } from 'vitest'
import { rollUp } from '../../../../src/counters/rollup/roll-up.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { nameAll } from '../../../harness/moves.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const AT = new Date('2026-11-20T10:00:00Z')

/** Inserts one slot for each id of a range, with the same count. */
async function fill(db: TestDatabase, from: number, to: number, count: number): Promise<void> {
  const step = 20_000
  for (let begin = from; begin < to; begin += step) {
    const rows = Array.from({ length: Math.min(step, to - begin) }, (_, i) => `(1,${begin + i},7,${count},1,0)`)
    await db.insert('slotted_counters', rows)
  }
  await nameAll(db)
}

describe('A roll-up', () => {
  // On Vitess, the endpoint cannot tell how many rows a server has read.
  it.skipIf(onVitess)(
    'of 100 pending counters among 200,000 idle ones reads as much as without the idle ones',
    async () => {
      const costOf100 = async (db: TestDatabase) => {
        for (let id = 1_000; id < 200_000; id += 2_000) {
          await db.insert('slotted_counters', '(1, ?, 8, 1, 1, 0)', [id])
        }
        await nameAll(db)
        await db.execute('ANALYZE TABLE slotted_counters, counters')
        // The first use of a table also reads the server's dictionary, which must not be measured.
        for (const table of [
          'slotted_counters',
          'counters',
          'counter_history',
          'counter_periods',
          'type_history',
          'rollup_state',
        ]) {
          await db.execute(`SELECT 1 FROM ${table} LIMIT 1`)
        }
        const statements = await db.recording(async () => {
          const options = { pageSlots: 2_000, maxStatements: 100, maxSeconds: 60, at: AT }
          expect(await rollUp(db, options)).toMatchObject({
            outcome: 'complete',
            moved: 100n,
            counters: 100,
          })
        })
        return { statements: statements.length, rowsRead: statements.reduce((sum, { rowsRead }) => sum + rowsRead, 0) }
      }
      const alone = await costOf100(await freshDatabase())
      const crowded = await freshDatabase()
      await fill(crowded, 0, 200_000, 0)
      await crowded.arrange('UPDATE counters SET count = 1, version = 1 WHERE record_id % 2 = 1')
      const among = await costOf100(crowded)
      console.log('rows read for 100 pending counters:', { alone, amongIdle: among })
      expect(among.statements).toBeLessThanOrEqual(alone.statements)
      expect(among.rowsRead).toBeLessThanOrEqual(alone.rowsRead + 10)
    },
  )
})
