import { describe, expect, it } from 'vitest'
import { type RollUpSummary, rollUp } from '../../src/counters/rollup.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const AT = new Date('2026-11-20T10:00:00Z')

/** Fills the slots with one row for each id of a range, `count` in each. */
async function fill(db: TestDatabase, from: number, to: number, count: number): Promise<void> {
  const step = 20_000
  for (let begin = from; begin < to; begin += step) {
    const rows = Array.from({ length: Math.min(step, to - begin) }, (_, i) => `(1,${begin + i},7,${count},1,0,DEFAULT)`)
    await db.execute(`INSERT INTO slotted_counters VALUES ${rows.join(',')}`)
  }
}

describe('a roll-up at scale', () => {
  it('moves 100,000 counters in bounded pages, each run within its budget, the next one going on', async () => {
    const db = await freshDatabase()
    await fill(db, 0, 100_000, 3)
    const runs: RollUpSummary[] = []
    const largest = { sql: 0, rows: 0 }
    do {
      const statements = await db.recording(async () => {
        runs.push(await rollUp(db, { pageSlots: 2_000, maxStatements: 200, maxSeconds: 100, at: AT }))
      })
      for (const { sql, rowsReturned } of statements) {
        largest.sql = Math.max(largest.sql, sql.length)
        largest.rows = Math.max(largest.rows, rowsReturned)
      }
    } while (runs.at(-1)!.outcome === 'partial' && runs.length < 10)
    expect(runs.at(-1)).toMatchObject({ outcome: 'complete', left: 0 })
    expect(runs.length).toBeGreaterThan(1)
    for (const { statements } of runs) expect(statements).toBeLessThanOrEqual(200)
    expect(runs.reduce((sum, { moved }) => sum + moved, 0n)).toBe(300_000n)
    expect(await db.number('SELECT SUM(count) FROM counter_totals')).toBe(300_000n)
    expect(await db.number('SELECT COUNT(*) FROM counter_totals WHERE count = 3')).toBe(100_000n)
    // What a run holds in memory is a page and the one ahead: their rows and statements, whatever is pending.
    expect(largest.rows).toBe(2_001)
    expect(largest.sql).toBeLessThan(500_000)
  })

  it('over 1,000,000 idle counters and 100 pending ones reads what 100 pending ones alone cost', async () => {
    const costOf100 = async (db: TestDatabase) => {
      for (let id = 5_000; id < 1_000_000; id += 10_000) {
        await db.execute('INSERT INTO slotted_counters VALUES (1, ?, 8, 1, 1, 0, DEFAULT)', [id])
      }
      await db.execute('ANALYZE TABLE slotted_counters, counter_totals')
      // The first use of a table reads the server's own dictionary, which is not what is compared.
      for (const table of ['slotted_counters', 'counter_totals', 'counter_history', 'rollup_state']) {
        await db.execute(`SELECT 1 FROM ${table} LIMIT 1`)
      }
      const statements = await db.recording(async () => {
        const options = { pageSlots: 2_000, maxStatements: 100, maxSeconds: 60, at: AT }
        expect(await rollUp(db, options)).toMatchObject({ outcome: 'complete', moved: 100n, counters: 100 })
      })
      return { statements: statements.length, rowsRead: statements.reduce((sum, { rowsRead }) => sum + rowsRead, 0) }
    }
    const alone = await costOf100(await freshDatabase())
    const crowded = await freshDatabase()
    await fill(crowded, 0, 1_000_000, 0)
    await crowded.execute(
      `INSERT INTO counter_totals SELECT record_type, record_id, 1, 1, NULL FROM slotted_counters WHERE record_id % 2 = 1`,
    )
    const among = await costOf100(crowded)
    console.log('rows read for 100 pending counters:', { alone, amongAMillion: among })
    expect(among.statements).toBeLessThanOrEqual(alone.statements)
    expect(among.rowsRead).toBeLessThanOrEqual(alone.rowsRead + 10)
  })
})
