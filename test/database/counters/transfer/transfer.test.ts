import { beforeEach, describe, expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/adjust/import-counts.ts'
import { setCounter } from '../../../../src/counters/adjust/set-counter.ts'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { random63 } from '../../../../src/counters/random-id.ts'
import { moveRollUpPage, readRollUpPage } from '../../../../src/counters/rollup/page.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import {
  countOn,
  countsOf,
  expectExact,
  finishTransfer,
  rollUpAt,
  rowsOf,
  sendTransfer,
} from '../../../harness/transfers.ts'

const DAY_MS = 86_400_000
// The second half of the ids is in another range than the first.
const A: CounterAddress = { recordType: 1, recordId: 2n ** 62n, name: '/a' }
const B: CounterAddress = { recordType: 1, recordId: 2n ** 63n + 5n, name: '/b' }
const C: CounterAddress = { recordType: 1, recordId: 2n ** 62n + 1n, name: '/c' }

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
const set = (counter: CounterAddress, count: bigint) =>
  setCounter({ db, totals: null }, counter, { count, id: random63(), at: new Date() })
const importAt = (counter: CounterAddress, count: bigint, day: Date | null, id = random63()) =>
  importCounts({ db, totals: null }, [{ counter, count, day }], { id, at: new Date() })
const daysOf = async ({ recordType, recordId }: CounterAddress, table = 'counter_periods', more = 'AND period = 1') => {
  const { rows } = await db.execute(
    `SELECT CAST(period_start AS CHAR) AS start, count FROM ${table}
     WHERE record_type = ${recordType} AND record_id = ${recordId} ${more} ORDER BY 1`,
  )
  return rows.map(({ start, count }) => `${start} ${count}`)
}
const typeDays = () => db.number('SELECT COALESCE(SUM(count), 0) FROM type_history WHERE period = 1')

/** Fills a counter with everything that a counter can have. Its count is 1,237. */
async function fill(counter: CounterAddress, days = 3): Promise<void> {
  await ensureNames(db, [counter], 1)
  for (let day = days; day > 0; day--) {
    await countOn(db, counter, BigInt(day))
    await rollUpAt(db, daysAgo(day))
  }
  await importAt(counter, 100n, daysAgo(400))
  await importAt(counter, 50n, null)
  await set(counter, 1_230n)
  await countOn(db, counter, 3n)
  await rollUpAt(db)
  await countOn(db, counter, 9n)
  await countOn(db, counter, -5n)
}

describe('Deleting a counter', () => {
  it('leaves no row of it, and nothing of it in the history of its type', async () => {
    await fill(A)
    await fill(B)
    expect(await countsOf(db, [A, B])).toEqual([1_237n, 1_237n])
    const ofB = [await daysOf(B), await rowsOf(db, B)]
    expect(await sendTransfer(db, A)).toBe('done')
    expect(await rowsOf(db, A)).toEqual({})
    expect([await daysOf(B), await rowsOf(db, B)]).toEqual(ofB)
    expect(await countsOf(db, [A, B])).toEqual([0n, 1_237n])
    expect(await typeDays()).toBe(await db.number('SELECT SUM(count) FROM counter_periods WHERE period = 1'))
    expect(await typeDays()).toBeGreaterThan(0n)
    await expectExact(db)
    await expect(sendTransfer(db, A)).rejects.toMatchObject({ reason: 'no_such_counter' })
  })

  it('that was never rolled up, or has nothing but a name, leaves no row', async () => {
    await countOn(db, A, 5n)
    await ensureNames(db, [B], 1)
    expect([await sendTransfer(db, A), await sendTransfer(db, B)]).toEqual(['done', 'done'])
    expect([await rowsOf(db, A), await rowsOf(db, B)]).toEqual([{}, {}])
    await expectExact(db)
  })

  it('with a long history takes several steps. What is counted meanwhile stays, and so does its name', async () => {
    await fill(A)
    const { rowsAffected } = await db.arrange(
      `INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${rowsOfDays(10, 350)}`,
    )
    await rebuild(BigInt(rowsAffected) * 2n)
    await expectExact(db)
    expect(await sendTransfer(db, A)).toBe('unfinished')
    expect(await countsOf(db, [A])).toEqual([0n])
    await expectExact(db)
    await countOn(db, A, 7n)
    await rollUpAt(db)
    await countOn(db, A, 4n)
    await set(A, 20n)
    await expectExact(db)
    await finishTransfer(db, A)
    expect(await countsOf(db, [A])).toEqual([20n])
    expect(await daysOf(A)).toHaveLength(1)
    expect(await rowsOf(db, A)).toMatchObject({ counter_names: 1, counter_adjustments: 1, counter_totals: 1 })
    expect(await rowsOf(db, A)).not.toHaveProperty('counter_transfers')
    await expectExact(db)
  })

  it('with more pending slots than one step takes rolls them up first', async () => {
    const slots = Array.from({ length: 1_500 }, (_, i) => `(1, ${A.recordId}, ${i}, 2, ${i + 1}, 0)`)
    await db.arrange(
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES ${slots}`,
    )
    await expect(sendTransfer(db, A, { below: 3_000n })).rejects.toMatchObject({ reason: 'count_not_below' })
    expect(await countsOf(db, [A])).toEqual([3_000n])
    await finishTransfer(db, A, { below: 3_001n })
    expect(await countsOf(db, [A])).toEqual([0n])
    expect(await rowsOf(db, A)).toEqual({})
    await expectExact(db)
  })

  it('below a number is refused if the count, with what is pending, is not below it', async () => {
    await countOn(db, A, 3n)
    await rollUpAt(db)
    await countOn(db, A, 2n)
    await expect(sendTransfer(db, A, { below: 5n })).rejects.toMatchObject({ reason: 'count_not_below' })
    expect(await countsOf(db, [A])).toEqual([5n])
    expect(await sendTransfer(db, A, { below: 6n })).toBe('done')
  })

  it('with a key is done once, also if there is a new counter under its name', async () => {
    const keyed = { id: random63(), keyed: true }
    await countOn(db, A, 5n)
    expect(await sendTransfer(db, A, keyed)).toBe('done')
    await countOn(db, A, 2n)
    expect(await sendTransfer(db, A, keyed)).toBe('repeated')
    expect(await countsOf(db, [A])).toEqual([2n])
    await expect(sendTransfer(db, A, { ...keyed, kind: 'merge', target: B })).rejects.toMatchObject({
      reason: 'idempotency_key_reused',
    })
  })

  it('deletes slots whose batch it read. A repeat of that batch counts as new, one of a later batch does not', async () => {
    const [early, late] = [random63(), random63()]
    await countOn(db, A, 5n, early)
    await sendTransfer(db, A)
    await countOn(db, A, 1n, late)
    await countOn(db, A, 1n, late)
    expect(await countsOf(db, [A])).toEqual([1n])
    await countOn(db, A, 5n, early)
    expect(await countsOf(db, [A])).toEqual([6n])
    await rollUpAt(db)
    await expectExact(db)
  })

  it('makes a page of the roll-up that was read before it fail, also if the counter is counted again', async () => {
    await countOn(db, A, 5n)
    const page = await readRollUpPage(db, { bounds: null, after: null }, 100)
    expect(await sendTransfer(db, A)).toBe('done')
    expect(await moveRollUpPage(db, page.counters, { at: new Date(), rangeLane: 0n })).toBe(false)
    await countOn(db, A, 1n)
    await rollUpAt(db)
    expect(await moveRollUpPage(db, page.counters, { at: new Date(), rangeLane: 0n })).toBe(false)
    expect(await countsOf(db, [A])).toEqual([1n])
    await expectExact(db)
  })
})

describe('Renaming and merging', () => {
  it('move count, history and adjustments to a new key', async () => {
    await fill(A)
    const [days, hours] = [await daysOf(A), await daysOf(A, 'counter_history', '')]
    const before = await typeDays()
    await finishTransfer(db, A, { kind: 'rename', target: B })
    expect(await countsOf(db, [A, B])).toEqual([0n, 1_237n])
    // What was pending is in the history now.
    expect((await daysOf(B)).slice(0, -1)).toEqual(days.slice(0, -1))
    expect(await daysOf(B, 'counter_history', '')).toHaveLength(hours.length)
    expect(await typeDays()).toBe(before + 4n)
    await rollUpAt(db)
    expect(await countsOf(db, [A, B])).toEqual([0n, 1_237n])
    // Empty slots stay until they are pruned, so that repeated hits are recognized.
    expect(Object.keys(await rowsOf(db, A))).toEqual(['slotted_counters'])
    expect(await rowsOf(db, B)).toMatchObject({ counter_names: 1, counter_adjustments: 1 })
    expect(await rowsOf(db, B)).not.toHaveProperty('counter_transfers')
    await expectExact(db)
  })

  it('add up two counters in the same range and in different ones', async () => {
    for (const counter of [A, B, C]) await fill(counter)
    await finishTransfer(db, A, { kind: 'merge', target: B })
    expect(await countsOf(db, [A, B, C])).toEqual([0n, 2_474n, 1_237n])
    await expectExact(db)
    await finishTransfer(db, B, { kind: 'merge', target: C })
    expect(await countsOf(db, [A, B, C])).toEqual([0n, 0n, 3_711n])
    await expectExact(db)
    await rollUpAt(db)
    expect(await countsOf(db, [C])).toEqual([3_711n])
    await expectExact(db)
  })

  it('of plain counters leave no adjustment', async () => {
    await countOn(db, A, 5n)
    await countOn(db, B, 6n)
    await rollUpAt(db)
    await finishTransfer(db, A, { kind: 'merge', target: B })
    expect(await rowsOf(db, B)).not.toHaveProperty('counter_adjustments')
    expect(await countsOf(db, [A, B])).toEqual([0n, 11n])
  })

  it('are refused if the source is missing, the new key is taken, or the counter to merge into is missing', async () => {
    await countOn(db, A, 5n)
    await countOn(db, C, 5n)
    const reasonOf = (source: CounterAddress, kind: 'rename' | 'merge', target: CounterAddress) =>
      sendTransfer(db, source, { kind, target }).catch(({ reason }) => reason)
    expect(await reasonOf(B, 'rename', A)).toBe('no_such_counter')
    expect(await reasonOf(B, 'merge', A)).toBe('no_such_counter')
    expect(await reasonOf(A, 'rename', C)).toBe('counter_exists')
    expect(await reasonOf(A, 'merge', B)).toBe('no_such_target')
    expect(await countsOf(db, [A, B, C])).toEqual([5n, 0n, 5n])
  })

  it('are refused if the sum would leave 64 bits', async () => {
    await set(A, 2n ** 62n)
    await set(B, 2n ** 62n)
    await expect(sendTransfer(db, A, { kind: 'merge', target: B })).rejects.toMatchObject({ kind: 'range' })
    expect(await countsOf(db, [A, B])).toEqual([2n ** 62n, 2n ** 62n])
  })

  it('are finished before the target is deleted, merged or renamed', async () => {
    await fill(A, 3)
    await countOn(db, B, 1n)
    await db.arrange(
      `INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${rowsOfDays(10, 139)}`,
    )
    await rebuild(260n)
    expect(await sendTransfer(db, A, { kind: 'merge', target: B })).toBe('unfinished')
    expect(await countsOf(db, [A, B])).toEqual([0n, 1_498n])
    await expectExact(db)
    await finishTransfer(db, B, { kind: 'rename', target: C })
    expect(await countsOf(db, [A, B, C])).toEqual([0n, 0n, 1_498n])
    expect(await daysOf(A)).toEqual([])
    expect(await daysOf(B)).toEqual([])
    expect(await db.number('SELECT COUNT(*) FROM counter_transfers')).toBe(0n)
    await expectExact(db)
  })
})

/** Rows of days of the first counter, each with a count of 2. */
function rowsOfDays(first: number, last: number): string {
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return days.map((days) => `(1, ${A.recordId}, 1, CURDATE() - INTERVAL ${days} DAY, 2)`).join()
}

/** Makes weeks, months, the total and the type's history follow days that a test has added to the first counter. */
async function rebuild(added: bigint): Promise<void> {
  const id = A.recordId
  await db.arrange(`DELETE FROM counter_periods WHERE record_id = ${id} AND period > 1`)
  await db.arrange('DELETE FROM type_history WHERE period BETWEEN 1 AND 3')
  for (const [period, start] of [
    [2, 'period_start - INTERVAL WEEKDAY(period_start) DAY'],
    [3, 'period_start - INTERVAL DAYOFMONTH(period_start) - 1 DAY'],
  ] as const) {
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count)
       SELECT 1, ${id}, ${period}, s, SUM(count) FROM (SELECT ${start} AS s, count FROM counter_periods
         WHERE record_type = 1 AND record_id = ${id} AND period = 1) AS days GROUP BY s`,
    )
  }
  await db.arrange(
    `INSERT INTO type_history (record_type, period, period_start, range_lane, count)
     SELECT record_type, period, period_start, 0, SUM(count) FROM counter_periods GROUP BY record_type, period, period_start`,
  )
  await db.arrange(`UPDATE counter_totals SET count = count + ${added} WHERE record_id = ${id}`)
}
