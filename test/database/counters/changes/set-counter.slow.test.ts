import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import type { Database } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { countOf, countOn, rollUpAt, setCounter } from '../../../harness/moves.ts'
import { surely } from '../../../harness/surely.ts'

const COUNTER: CounterAddress = { recordType: 1, recordId: 2n ** 63n + 5n, name: '/set' }

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(() => {
  vi.restoreAllMocks()
})
const add = (by: bigint, counter = COUNTER) => countOn(db, counter, by)
const set = async (count: bigint, id = random63(), on: Database = db, counter = COUNTER) =>
  await setCounter(on, counter, { count, id, at: new Date() })
const move = () => rollUpAt(db, new Date(), { pageSlots: 50, maxStatements: 100 })
const count = (counter = COUNTER) => countOf(db, counter)
/** The sum of what was counted and adjusted. The total must equal it. */
const accounted = ({ recordId } = COUNTER) =>
  db.number(
    `SELECT (SELECT COALESCE(SUM(count), 0) FROM counter_periods WHERE record_type = 1 AND record_id = ${recordId} AND period = 1)
       + (SELECT COALESCE(SUM(count), 0) FROM counter_adjustments WHERE record_type = 1 AND record_id = ${recordId})`,
  )

describe('Setting a counter', () => {
  it('that is new, pending or rolled up gives it the new count, and keeps its history', async () => {
    expect(await set(100n)).toBe('set')
    expect(await count()).toBe(100n)
    await add(5n)
    await add(-2n)
    expect(await set(7n)).toBe('set')
    expect(await count()).toBe(7n)
    await move()
    expect(await count()).toBe(7n)
    expect(await db.number('SELECT SUM(count) FROM counter_history')).toBe(3n)
    await add(1n)
    await set(0n)
    expect(await count()).toBe(0n)
    await move()
    expect([await count(), await accounted()]).toEqual([0n, 0n])
    expect(await db.number('SELECT SUM(count) FROM counter_history')).toBe(4n)
    const { rows } = await db.execute('SELECT CAST(name AS CHAR) AS name FROM counters')
    expect(rows).toEqual([{ name: '/set' }])
  })

  it('to different values at once leaves one of them, and each change is recorded', async () => {
    await add(4n)
    const values = [10n, 20n, 30n, 40n]
    const ids = values.map(() => random63())
    await Promise.all(values.map((value, i) => surely(() => set(value, ids[i]))))
    expect(values).toContain(await count())
    await move()
    expect(await accounted()).toBe(await count())
    expect(await db.number('SELECT COUNT(*) FROM counter_adjustments')).toBe(4n)
  })

  it('happens completely or not at all if it is cut off at any statement, and once if it is repeated', async () => {
    // Retries do not pause.
    vi.spyOn(Math, 'random').mockReturnValue(0)
    let times = 0n
    for (const delivered of [false, true]) {
      for (let after = 0; after <= 12; after++) {
        // Each round sets another counter.
        times++
        const own = { ...COUNTER, recordId: COUNTER.recordId + times, name: `/set/${times}` }
        await add(3n, own)
        const id = random63()
        const cut = db.open({ deadlineMs: 60_000, fetch: cutFetch({ after, delivered, rollback: true }) })
        const first = await set(20n, id, cut, own).catch((error: unknown) => error)
        const between = await count(own)
        expect([3n, 20n]).toContain(between)
        if (first === 'set') expect(between).toBe(20n)
        await add(1n, own)
        expect(await set(20n, id, db, own)).toBe(between === 20n ? 'repeated' : 'set')
        expect(await count(own)).toBe(between === 20n ? 21n : 20n)
        expect(await db.number('SELECT COUNT(*) FROM counter_adjustments')).toBe(times)
        await move()
        expect(await accounted(own)).toBe(await count(own))
      }
    }
  })

  it('to the largest counts is exact beside pending ones', async () => {
    const largest = 2n ** 63n - 1n
    await add(-2n)
    expect(await set(largest)).toBe('set')
    expect(await count()).toBe(largest)
    await add(-5n)
    await expect(set(-1n)).rejects.toThrow('count_out_of_range')
    expect(await count()).toBe(largest - 5n)
    expect(await set(0n)).toBe('set')
    expect(await set(-largest)).toBe('set')
    expect(await count()).toBe(-largest)
    expect(await accounted()).toBe(-largest)
  })
})
