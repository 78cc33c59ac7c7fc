import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { moveCounter } from '../../../../src/counters/changes/move-counter.ts'
import { setCounts } from '../../../../src/counters/changes/set-counts.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import type { Database } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { countOf, countOn, expectExact, rollUpAt } from '../../../harness/moves.ts'
import { surely } from '../../../harness/surely.ts'

const AT = new Date('2026-11-20T10:30:00Z')
const counterOf = (id: bigint): CounterAddress => ({ recordType: 1, recordId: id, name: `/${id}` })
const COUNTER = counterOf(7n)

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(() => {
  vi.restoreAllMocks()
})
const read = (counts: (number | bigint)[], { on = db as Database, at = AT, reset = false, counter = COUNTER } = {}) =>
  setCounts(
    on,
    counts.map((count) => ({ counter, count: BigInt(count), as: reset ? 'reset' : 'reading' })),
    { key: null, at },
  )
const count = (counter = COUNTER) => countOf(db, counter)
const sums = async () => {
  const parts = ['counter_history', 'counter_periods WHERE period = 1', 'counter_adjustments']
  return Promise.all(parts.map((of) => db.number(`SELECT COALESCE(SUM(count), 0) FROM ${of}`)))
}

describe('A reading', () => {
  it('books what a counter has gained as counted now, and adds nothing the second time', async () => {
    expect(await read([40])).toEqual([{ added: 40n }])
    expect(await read([40])).toEqual([{ added: 0n }])
    expect(await read([100], { at: new Date('2026-11-21T00:30:00Z') })).toEqual([{ added: 60n }])
    expect([await count(), await sums()]).toEqual([100n, [100n, 100n, 0n]])
    const { rows } = await db.execute(
      `SELECT CAST(period_start AS CHAR) AS start, CAST(count AS CHAR) AS count FROM counter_periods WHERE period = 1 ORDER BY start`,
    )
    expect(rows.map(({ start, count }) => [start, count])).toEqual([
      ['2026-11-20', '40'],
      ['2026-11-21', '60'],
    ])
    await expectExact(db)
  })

  it('of 0 makes the counter, also one that was deleted', async () => {
    const names = () => db.number('SELECT COUNT(*) FROM counters WHERE gone_hour IS NULL')
    await read([0])
    expect([await names(), await count()]).toEqual([1n, 0n])
    await moveCounter(db, COUNTER, { kind: 'delete', target: null, also: [], below: null, key: null })
    expect(await names()).toBe(0n)
    await read([0])
    expect(await names()).toBe(1n)
  })

  it('that is refused stores no idempotency key, so its repeat is refused as well', async () => {
    await read([40])
    const key = { recordId: COUNTER.recordId, hash: 1n, contents: 2n }
    const lower = () => setCounts(db, [{ counter: COUNTER, count: 39n, as: 'reading' }], { key, at: AT })
    expect(await lower()).toEqual([{ refused: 'reading_below_count' }])
    expect(await lower()).toEqual([{ refused: 'reading_below_count' }])
    expect([await db.number('SELECT COUNT(*) FROM change_keys'), await count()]).toEqual([0n, 40n])
  })

  it('below the count is refused, and changes nothing, unless it resets the counter: then the history stays', async () => {
    await read([40])
    expect(await read([39])).toEqual([{ refused: 'reading_below_count' }])
    expect([await count(), await sums()]).toEqual([40n, [40n, 40n, 0n]])
    expect(await read([5], { reset: true })).toEqual([{ added: -35n }])
    expect([await count(), await sums()]).toEqual([5n, [40n, 40n, -35n]])
    expect(await read([6])).toEqual([{ added: 1n }])
    await expectExact(db)
  })

  it('takes what is pending with it, which was counted before', async () => {
    await countOn(db, COUNTER, 3n)
    await countOn(db, COUNTER, 4n)
    expect(await read([10])).toEqual([{ added: 3n }])
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters WHERE pending = 1')).toBe(0n)
    expect([await count(), await sums()]).toEqual([10n, [10n, 10n, 0n]])
    await countOn(db, COUNTER, 1n)
    await rollUpAt(db)
    expect(await count()).toBe(11n)
    await expectExact(db)
  })

  it('is taken by itself among others: in their order, those of a counter too', async () => {
    const [one, two] = [counterOf(8n), counterOf(9n)]
    const readings = [
      { counter: two, count: 5n, as: 'reading' as const },
      { counter: one, count: 2n ** 53n - 1n, as: 'reading' as const },
      { counter: two, count: 4n, as: 'reading' as const },
      { counter: two, count: 9n, as: 'reading' as const },
    ]
    expect(await setCounts(db, readings, { key: null, at: AT })).toEqual([
      { added: 5n },
      { added: 2n ** 53n - 1n },
      { refused: 'reading_below_count' },
      { added: 4n },
    ])
    expect([await count(one), await count(two)]).toEqual([2n ** 53n - 1n, 9n])
    await expectExact(db)
  })

  it('of 1,000 counters is taken in one transaction of few statements', async () => {
    const readings = Array.from({ length: 1_000 }, (_, i) => ({
      counter: counterOf(BigInt(i + 1)),
      count: BigInt(i),
      as: 'reading' as const,
    }))
    const take = () => setCounts(db, readings, { key: null, at: AT })
    const first = await db.recording(take)
    expect(first.length).toBeLessThanOrEqual(13)
    await db.recording(async () => {
      expect((await take()) as unknown[]).toEqual(readings.map(() => ({ added: 0n })))
    })
    expect(await db.number('SELECT SUM(count) FROM counters')).toBe(499_500n)
    await expectExact(db)
  })

  it('happens once by two synchronizations at once and beside roll-ups, and the highest one stays', async () => {
    for (let round = 1; round <= 10; round++) {
      const counts = [round * 10, round * 10 - 3, round * 10]
      await Promise.all([...counts.map((count) => surely(() => read([count]))), surely(() => rollUpAt(db))])
    }
    expect([await count(), await sums()]).toEqual([100n, [100n, 100n, 0n]])
    await expectExact(db)
  })

  it('is booked once, however often it is sent, if it is cut off at any statement', async () => {
    // Retries do not pause.
    vi.spyOn(Math, 'random').mockReturnValue(0)
    let expected = 0n
    for (const delivered of [false, true]) {
      for (let after = 0; after <= 9; after++) {
        expected += 7n
        await countOn(db, COUNTER, 1n)
        const cut = db.open({ deadlineMs: 10_000, fetch: cutFetch({ after, delivered, rollback: true }) })
        await read([expected], { on: cut }).catch(() => {})
        await surely(() => read([expected]))
        expect([after, delivered, await count()]).toEqual([after, delivered, expected])
      }
    }
    expect(await sums()).toEqual([expected, expected, 0n])
    await expectExact(db)
  })
})
