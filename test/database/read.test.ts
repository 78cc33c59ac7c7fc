import { beforeAll, describe, expect, it } from 'vitest'
import type { Counter } from '../../src/counters/counter.ts'
import { MAX_READ, readCounters } from '../../src/counters/read.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const counter = (recordId: bigint): Counter => ({ recordType: 1, recordId, name: null })

describe('reading', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await freshDatabase()
    await db.execute(
      `INSERT INTO counter_totals VALUES (1, 1, 40, 3, '2026-11-20 10:00:00.123'), (1, 2, 7, 1, '2026-11-20 11:00:00'), (2, 1, 999, 1, NULL)`,
    )
    await db.execute(
      'INSERT INTO slotted_counters VALUES (1, 1, 1, 2, 1, 0, DEFAULT), (1, 1, 2, -1, 1, 0, DEFAULT), (1, 3, 9, 5, 1, 0, DEFAULT), (2, 1, 9, 5, 1, 0, DEFAULT)',
    )
  })

  it('gives total and pending, in the order asked for, repeats and unknown ones included', async () => {
    const readings = await readCounters(db, [counter(3n), counter(1n), counter(77n), counter(2n), counter(1n)])
    const one = { total: 40n, pending: 1n, rolledUpAt: new Date('2026-11-20T10:00:00.123Z') }
    expect(readings).toEqual([
      { total: 0n, pending: 5n, rolledUpAt: null },
      one,
      { total: 0n, pending: 0n, rolledUpAt: null },
      { total: 7n, pending: 0n, rolledUpAt: new Date('2026-11-20T11:00:00Z') },
      one,
    ])
  })

  it('gives the same for each of them alone', async () => {
    const all = [counter(3n), counter(1n), counter(77n), counter(2n)]
    const together = await readCounters(db, all)
    for (const [index, one] of all.entries()) expect(await readCounters(db, [one])).toEqual([together[index]])
    expect(await readCounters(db, [all[1]!, all[1]!])).toEqual([together[1], together[1]])
  })

  it('of the rolled-up part alone leaves pending out', async () => {
    expect(await readCounters(db, [counter(1n), counter(3n)], 'rolled')).toEqual([
      { total: 40n, pending: 0n, rolledUpAt: new Date('2026-11-20T10:00:00.123Z') },
      { total: 0n, pending: 0n, rolledUpAt: null },
    ])
  })

  it('takes one statement for one counter, for a thousand, and none for none', async () => {
    const many = Array.from({ length: MAX_READ }, (_, index) => counter(BigInt(index)))
    expect(await db.recording(() => readCounters(db, [counter(1n)]))).toHaveLength(1)
    expect(await db.recording(() => readCounters(db, many))).toHaveLength(1)
    expect(await db.recording(() => readCounters(db, []))).toHaveLength(0)
  })

  it('touches the slots that hold something, not those that wait for pruning', async () => {
    const rows = Array.from(
      { length: 5_000 },
      (_, slot) => `(1, 50, ${slot}, ${slot % 500 === 0 ? 3 : 0}, 1, 0, DEFAULT)`,
    )
    await db.execute(`INSERT INTO slotted_counters VALUES ${rows.join(',')}`)
    const [statement] = await db.recording(async () => {
      expect(await readCounters(db, [counter(50n)])).toMatchObject([{ pending: 30n }])
    })
    // 10 slots, each read once from the table and once from the temporary table that sums them, and a few look-ups.
    expect(statement!.rowsRead).toBeLessThan(40)
  })

  it.each([0, 500, 5_000, 50_000])(
    'by whichever index has less to read, with 1,000 slots that hold something among %i that do not',
    async (empty) => {
      const own = await freshDatabase()
      for (let begin = 0; begin < 1_000 + empty; begin += 10_000) {
        const rows = Array.from({ length: Math.min(10_000, 1_000 + empty - begin) }, (_, index) => {
          // Where they lie, as random slots would.
          const slot = (BigInt(begin + index) * 11_400_714_819_323_198_485n) % 2n ** 64n
          return `(1, 50, ${slot}, ${begin + index < 1_000 ? 3 : 0}, 1, 0, DEFAULT)`
        })
        await own.execute(`INSERT INTO slotted_counters VALUES ${rows.join(',')}`)
      }
      await readCounters(own, [counter(50n)])
      const [statement] = await own.recording(async () => {
        expect(await readCounters(own, [counter(50n)])).toMatchObject([{ total: 0n, pending: 3_000n }])
      })
      // Rows side by side take about a fifth of the time that those do which are found through the other index.
      expect(statement!.rowsRead).toBeLessThan(8_000)
    },
  )

  it.each([2, 50, 300, MAX_READ])(
    '%i counters among many reads those alone, ids below and above 2^63 mixed',
    async (many) => {
      const crowd = await freshDatabase()
      const id = (i: number) => (BigInt(i) * 11_400_714_819_323_198_485n) % 2n ** 64n
      const rows = Array.from({ length: 20_000 }, (_, i) => i)
      await crowd.execute(
        `INSERT INTO counter_totals VALUES ${rows.map((i) => `(1, ${id(i)}, ${i}, 1, NULL)`).join(',')}`,
      )
      await crowd.execute(
        `INSERT INTO slotted_counters VALUES ${rows.map((i) => `(1, ${id(i)}, 1, 1, 1, 0, DEFAULT)`).join(',')}`,
      )
      await crowd.execute('ANALYZE TABLE counter_totals, slotted_counters')
      const wanted = Array.from({ length: many }, (_, i) => counter(id(i * 19)))
      for (const consistency of ['exact', 'rolled'] as const) {
        await readCounters(crowd, wanted, consistency)
        const [statement] = await crowd.recording(() => readCounters(crowd, wanted, consistency))
        // A look-up and a read for each in both tables, and more in the temporary tables that sum, sort and (a list of
        // 1,000, in MariaDB) hold them.
        expect(statement!.rowsRead).toBeLessThan(12 * many + 20)
      }
      const readings = await readCounters(crowd, wanted)
      expect(readings.map(({ total, pending }) => total + pending)).toEqual(wanted.map((_, i) => BigInt(i * 19 + 1)))
    },
  )
})
