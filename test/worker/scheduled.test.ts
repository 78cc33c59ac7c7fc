import { describe, expect, it } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../src/config/config.ts'
import { freshDatabase } from '../harness/database.ts'
import { logged } from '../harness/logged.ts'
import { sharedWorker, TestWorker } from '../harness/worker.ts'

const { db, worker } = sharedWorker()

describe('The cron trigger', () => {
  it('of every minute rolls up at the scheduled time and logs one line', async () => {
    await worker.api('POST', '/v1/counters/page_view/a', { by: 6 })
    const at = new Date('2026-01-02T03:04:00Z')
    const lines = await logged(() => worker.cron(ROLL_UP_CRON, at))
    const moved = { outcome: 'complete', moved: 6, counters: 1, left: 0 }
    expect(lines).toEqual([expect.objectContaining({ event: 'rollup', scheduled: at.toISOString(), ...moved })])
    expect(Object.keys(lines[0]!)).toEqual(expect.arrayContaining(['statements', 'milliseconds']))
    expect(await worker.read('page_view', 'a')).toMatchObject({ total: 6, rolledUpAt: at.toISOString() })
    const { rows } = await db.execute('SELECT period_start FROM counter_history')
    expect(rows).toEqual([{ period_start: '2026-01-02 03:00:00' }])
  })

  it('of every second minute prunes slots, deletes old hours and checks sums, and logs one line about each', async () => {
    // The roll-up above was for January, so its hour is old.
    await db.arrange('UPDATE slotted_counters SET kept_until = kept_until - 48')
    const lines = await logged(() => worker.cron(PRUNING_CRON))
    expect(lines).toEqual([
      expect.objectContaining({ event: 'prune', outcome: 'complete', deleted: 1 }),
      expect.objectContaining({ event: 'expire', outcome: 'complete', deleted: 2, kept: 0 }),
      expect.objectContaining({ event: 'verify', wrong: 0 }),
    ])
    expect(await worker.count('page_view', 'a')).toBe(6)
  })

  it('of every second minute deletes the salts of days whose windows are over', async () => {
    const clock = async () => Number(await db.number('SELECT UNIX_TIMESTAMP()'))
    const before = await clock()
    const day = Math.floor(before / 86_400)
    const rows = [day - 3, day - 1, day, day + 1].map((day) => `(0, ${day}, X'${'00'.repeat(32)}')`)
    await db.arrange(`INSERT INTO visitor_salts (range_start, day, salt) VALUES ${rows.join()}`)
    const daily = { page: { record_type: 1, dedupe_seconds: 86_400 } }
    const lines = await logged(() => new TestWorker(db.url, { COUNTERS: daily }).cron(PRUNING_CRON))
    expect(lines[0]).toMatchObject({ event: 'prune', salts: 1 })
    await logged(() => worker.cron(PRUNING_CRON))
    const { rows: left } = await db.execute('SELECT day FROM visitor_salts ORDER BY day')
    // The windows of downloads last 30 seconds. Clocks may differ by 10 minutes.
    const keptAt = (now: number) => [day - 1, day, day + 1].filter((each) => (each + 1) * 86_400 + 630 > now)
    expect([keptAt(before), keptAt(await clock())]).toContainEqual(left.map(({ day }) => day))
    await db.arrange('DELETE FROM visitor_salts')
  })

  it('of every second minute deletes no hours and no salts while no type can be read, but checks sums', async () => {
    const own = await freshDatabase()
    await own.arrange(`INSERT INTO visitor_salts (range_start, day, salt) VALUES (0, 1, X'${'00'.repeat(32)}')`)
    const lines = await logged(() => new TestWorker(own.url, { COUNTERS: 'page' }).cron(PRUNING_CRON))
    expect(lines.map(({ event }) => event)).toEqual(['wrong_settings', 'prune', 'verify'])
    expect(await own.number('SELECT COUNT(*) FROM visitor_salts')).toBe(1n)
  })

  it('of every second minute prunes and deletes hours even if salts cannot be deleted, and fails', async () => {
    await db.behave({ faults: [{ action: 'error', errno: 1146, match: 'DELETE FROM visitor_salts' }] })
    const lines = await logged(() => expect(worker.cron(PRUNING_CRON)).rejects.toThrow())
    expect(lines).toEqual([
      expect.objectContaining({ event: 'scheduled_failed', cron: PRUNING_CRON, task: 'salts' }),
      expect.objectContaining({ event: 'prune', outcome: 'complete', salts: null }),
      expect.objectContaining({ event: 'expire', outcome: 'complete' }),
    ])
  })

  it('of every second minute sends no more statements than the free plan allows, however much there is to do', async () => {
    const own = await freshDatabase()
    const rows = Array.from({ length: 3_000 }, (_, i) => `(1, ${i}, 1, 0, 1, 1)`)
    await own.arrange(
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until) VALUES ${rows.join(', ')}`,
    )
    await own.arrange(
      `INSERT INTO counter_history (record_type, record_id, period_start, count) SELECT record_type, record_id, '2026-01-01', 1 FROM slotted_counters`,
    )
    await own.arrange(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) SELECT record_type, record_id, 1, '2026-01-01', 1 FROM slotted_counters`,
    )
    const sent = async (maxStatements: number) => {
      const pages = { pruning: { pageSlots: 10, maxStatements }, history: { pageHours: 10, maxStatements: 30 } }
      const busy = new TestWorker(own.url, { PLAN: 'free' }).withBudgets(pages)
      const lines = await logged(() => busy.cron(PRUNING_CRON))
      expect(lines.map(({ event, outcome, stoppedBy }) => [event, outcome, stoppedBy])).toEqual([
        ['prune', 'partial', 'statements'],
        ['expire', 'partial', 'statements'],
      ])
      return lines.map(({ statements }) => Number(statements))
    }
    const [pruning, folding] = await sent(4 * (1 + own.ranges))
    // Two more record how the runs ended.
    expect(pruning! + folding! + 2).toBeLessThan(50)
    expect(folding!).toBeGreaterThan(1)
    // Deleting hours may use the statements that pruning did not need.
    expect((await sent(1 + own.ranges))[1]).toBeGreaterThan(folding!)
    // Until all is deleted and checked, with all that a run may send, and with names of many types.
    const pages = {
      pruning: { pageSlots: 100, maxStatements: 45 - 5 * own.ranges },
      history: { pageHours: 100, maxStatements: 50 },
    }
    const busy = new TestWorker(own.url, { PLAN: 'free' }).withBudgets(pages)
    const totals: number[] = []
    for (let checked = false; !checked; ) {
      const high = '9300000000000000000'
      const names = Array.from({ length: 10 }, (_, i) => [`${i}, 1, 'a', 1`, `${i}, ${high}, 'b', 1`]).flat()
      await own.arrange(`INSERT INTO counters (record_type, record_id, name, gone_hour) VALUES (${names.join('), (')})`)
      const statements = await own.recording(async () => {
        checked = (await logged(() => busy.cron(PRUNING_CRON))).some(({ event }) => event === 'verify')
      })
      totals.push(statements.length)
      expect(await own.number('SELECT COUNT(*) FROM counters')).toBe(0n)
    }
    expect(Math.max(...totals)).toBeGreaterThan(40)
    expect(Math.max(...totals)).toBeLessThanOrEqual(50)
  })

  it('throws if the database is dead, so that the platform reports the failure', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9')
    const lines = await logged(() => expect(dead.cron(ROLL_UP_CRON)).rejects.toThrow())
    expect(lines).toEqual([expect.objectContaining({ event: 'scheduled_failed' })])
  })
})
