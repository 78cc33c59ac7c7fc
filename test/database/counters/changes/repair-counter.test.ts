import { beforeEach, describe, expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/changes/import-counts.ts'
import { type Repair, repairCounter } from '../../../../src/counters/changes/repair-counter.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { countOf, countOn, expectExact, rollUpAt } from '../../../harness/moves.ts'
import { verifyAll } from '../../../harness/verify-all.ts'

const COUNTER: CounterAddress = { recordType: 1, recordId: 5n, name: '/5' }
const OTHER: CounterAddress = { recordType: 1, recordId: 6n, name: '/6' }
/** The days of the fixture are the last ones, whose hours are checked. */
const NOW = new Date()
const YESTERDAY = new Date(NOW.getTime() - 86_400_000)
const DAY = YESTERDAY.toISOString().slice(0, 10)
const ITS = 'record_type = 1 AND record_id = 5'

describe('Repairing a counter', () => {
  let db: TestDatabase
  const repair = (options: Partial<Repair> = {}) =>
    repairCounter(db, COUNTER, { days: [], at: NOW, hourDays: 90, dryRun: false, ...options })
  const found = async (options: Partial<Repair> = {}) =>
    (await repair(options)).map(({ what, start, is, shouldBe }) => [what, start, is, shouldBe])

  beforeEach(async () => {
    db = await freshDatabase()
    for (const counter of [COUNTER, OTHER]) await countOn(db, counter, 20n)
    await rollUpAt(db, YESTERDAY)
    await countOn(db, COUNTER, 3n)
    await rollUpAt(db, NOW)
    await importCounts(db, [{ counter: OTHER, count: 4n, day: null }], { id: random63(), at: NOW })
    await countOn(db, COUNTER, 1n)
  })

  it('finds nothing if nothing is wrong, and changes nothing', async () => {
    expect(await repair({ days: [DAY] })).toEqual([])
    expect(await db.number('SELECT COUNT(*) FROM counter_adjustments')).toBe(1n)
    await expectExact(db)
  })

  it.each([
    ['its total', `UPDATE counters SET count = count + 7 WHERE ${ITS}`, ['total', null, 30n, 23n], 31n],
    ['a month', `UPDATE counter_periods SET count = count + 7 WHERE ${ITS} AND period = 2 LIMIT 1`, ['month'], 24n],
    [
      'an hour',
      `UPDATE counter_history SET count = count + 7 WHERE ${ITS} AND DATE(period_start) = '${DAY}'`,
      ['hours', DAY],
      24n,
    ],
    ['all of its months', `DELETE FROM counter_periods WHERE ${ITS} AND period = 2`, ['month'], 24n],
  ])('makes %s agree with its days, without changing the count', async (_, damage, wrong, count) => {
    await db.arrange(damage)
    expect((await verifyAll(db)).wrong.length).toBeGreaterThan(0)
    const before = await countOf(db, COUNTER)
    const planned = await found({ dryRun: true })
    expect((await verifyAll(db)).wrong.length).toBeGreaterThan(0)
    const repaired = await found({ days: [DAY] })
    expect(repaired[0]!.slice(0, wrong.length)).toEqual(wrong)
    expect(repaired[0]).toEqual(planned[0])
    expect([before, await countOf(db, COUNTER)]).toEqual([count, count])
    await expectExact(db)
    expect(await repair({ days: [DAY] })).toEqual([])
  })

  it.each([
    ['a day', `UPDATE type_history SET count = count + 7 WHERE period = 1 AND DATE(period_start) = '${DAY}' LIMIT 1`],
    [
      'a day with its month',
      `UPDATE type_history SET count = count - 7 WHERE period IN (1, 2) AND period_start <= '${DAY}'`,
    ],
    ['an hour', `DELETE FROM type_history WHERE period = 0 AND DATE(period_start) = '${DAY}'`],
    ['its adjustments', 'UPDATE type_history SET count = count + 7 WHERE period = 3'],
  ])('rebuilds %s of its type from the counters', async (_, damage) => {
    await db.arrange(damage)
    expect((await verifyAll(db)).wrong.length).toBeGreaterThan(0)
    expect((await repair({ days: [DAY] })).length).toBeGreaterThan(0)
    await expectExact(db)
  })

  it('repairs a day that was lost: the total keeps it as an adjustment, and the type follows the counters', async () => {
    await db.arrange(`DELETE FROM counter_periods WHERE ${ITS} AND period = 1 AND period_start = '${DAY}'`)
    await repair({ days: [DAY] })
    expect(await countOf(db, COUNTER)).toBe(24n)
    await expectExact(db)
  })

  it('beside roll-ups and hits loses nothing', async () => {
    await db.arrange(`UPDATE counters SET count = count + 7 WHERE ${ITS}`)
    const counting = (async () => {
      for (let i = 0; i < 20; i++) {
        await countOn(db, COUNTER, 1n)
        await rollUpAt(db, NOW)
      }
    })()
    let repaired = 0
    while (repaired === 0)
      repaired = await repair({ days: [DAY] }).then(
        (wrong) => wrong.length,
        () => 0,
      )
    await counting
    expect(await countOf(db, COUNTER)).toBe(51n)
    await rollUpAt(db, NOW)
    await expectExact(db)
  })

  it('refuses a counter that does not exist', async () => {
    const missing = { ...COUNTER, recordId: 99n, name: '/99' }
    const options = { days: [], at: NOW, hourDays: 90, dryRun: false }
    await expect(repairCounter(db, missing, options)).rejects.toMatchObject({
      reason: 'no_such_counter',
    })
  })
})
