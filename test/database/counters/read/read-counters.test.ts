import { beforeAll, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { MAX_PENDING, MAX_PUBLIC_PENDING } from '../../../../src/counters/counters-sql.ts'
import { countIn, MAX_READ, readCounters } from '../../../../src/counters/read/read-counters.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const counter = (recordId: bigint): CounterAddress => ({ recordType: 1, recordId, name: `/${recordId}` })

describe('Reading', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await freshDatabase()
    await db.insert(
      'totals',
      `(1, 1, 40, 3, '2026-11-20 10:00:00.123'), (1, 2, 7, 1, '2026-11-20 11:00:00'), (2, 1, 999, 1, NULL), (1, 3, 0, 1, NULL), (1, 50, 0, 1, NULL)`,
    )
    await db.insert(
      'slotted_counters',
      '(1, 1, 1, 2, 1, 0), (1, 1, 2, -1, 1, 0), (1, 3, 9, 5, 1, 0), (2, 1, 9, 5, 1, 0)',
    )
  })

  it('gives total and pending in the requested order, for repeated and unknown counters too', async () => {
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

  it('one counter gives the same as reading several', async () => {
    const all = [counter(3n), counter(1n), counter(77n), counter(2n)]
    const together = await readCounters(db, all)
    for (const [index, one] of all.entries()) expect(await readCounters(db, [one])).toEqual([together[index]])
    expect(await readCounters(db, [all[1]!, all[1]!])).toEqual([together[1], together[1]])
  })

  it('only rolled-up counts leaves out pending counts', async () => {
    expect(await readCounters(db, [counter(1n), counter(3n)], 'rolled')).toEqual([
      { total: 40n, pending: null, rolledUpAt: new Date('2026-11-20T10:00:00.123Z') },
      { total: 0n, pending: null, rolledUpAt: null },
    ])
  })

  it('uses only slots that are not empty, not those that wait for pruning', async () => {
    const rows = Array.from({ length: 5_000 }, (_, slot) => `(1, 50, ${slot}, ${slot % 500 === 0 ? 3 : 0}, 1, 0)`)
    await db.insert('slotted_counters', rows)
    const [statement] = await db.recording(async () => {
      expect(await readCounters(db, [counter(50n)])).toMatchObject([{ pending: 30n }])
    })
    // 10 slots, each read from the table and from the temporary table that sums them, 65 empty ones that are passed over, and a few look-ups. On Vitess, the endpoint cannot tell.
    if (!onVitess) expect(statement!.rowsRead).toBeLessThan(110)
  })

  // On Vitess, the endpoint cannot tell how many rows a server has read.
  it.skipIf(onVitess).each([0, 64, 65, 5_000, 50_000])(
    'without a token reads 1,000 slots with a count, however many are without: %i',
    async (empty) => {
      const own = await freshDatabase()
      await own.insert('names', `(1, 50, '/50')`)
      for (let begin = 0; begin < 1_000 + empty; begin += 10_000) {
        const rows = Array.from({ length: Math.min(10_000, 1_000 + empty - begin) }, (_, index) => {
          // Spread like random slots.
          const slot = (BigInt(begin + index) * 11_400_714_819_323_198_485n) % 2n ** 64n
          return `(1, 50, ${slot}, ${begin + index < 1_000 ? 3 : 0}, 1, 0)`
        })
        await own.insert('slotted_counters', rows)
      }
      const read = () => readCounters(own, [counter(50n)], MAX_PUBLIC_PENDING)
      await read()
      const [statement] = await own.recording(async () => {
        expect(await read()).toMatchObject([{ total: 0n, pending: 3_000n }])
      })
      // Each once to see that they are not too many, and once to add them up. Empty ones that are passed over: 65, or twice 64.
      expect(statement!.rowsRead).toBeLessThan(2_150)
    },
  )
})

describe('Reading up to so many pending slots', () => {
  it('gives the exact count of counters that have no more, and leaves what is pending out of all others', async () => {
    const own = await freshDatabase()
    const slots = [0, 1, 3, 4].flatMap((slots, id) =>
      Array.from({ length: slots }, (_, slot) => `(1, ${id}, ${slot}, 2, 1, 0)`),
    )
    await own.insert('slotted_counters', [...slots, '(1, 2, 9, 0, 1, 0)', '(2, 2, 9, 1, 1, 0)'])
    await own.insert('names', `(1, 0, '/0'), (1, 1, '/1'), (1, 2, '/2'), (1, 3, '/3')`)
    await own.insert('totals', '(1, 3, 100, 1, NULL)')
    const readings = [
      { total: 0n, pending: 0n },
      { total: 0n, pending: 2n },
      { total: 0n, pending: 6n },
      { total: 100n, pending: null },
      // It was never counted.
      { total: 0n, pending: 0n },
    ]
    const counters = readings.map((_, id) => counter(BigInt(id)))
    expect(await readCounters(own, counters, 3)).toMatchObject(readings)
    for (const [id, one] of counters.entries()) expect(await readCounters(own, [one], 3)).toMatchObject([readings[id]])
    expect((await readCounters(own, [counters[3]!], 4))[0]).toMatchObject({ total: 100n, pending: 8n })
  })
})

describe('Reading among many counters', () => {
  const id = (i: number) => (BigInt(i) * 11_400_714_819_323_198_485n) % 2n ** 64n
  let crowd: TestDatabase
  beforeAll(async () => {
    crowd = await freshDatabase()
    const rows = (row: (i: number) => string) => Array.from({ length: 20_000 }, (_, i) => row(i))
    await crowd.insert(
      'totals',
      rows((i) => `(1, ${id(i)}, ${i}, 1, NULL)`),
    )
    await crowd.insert(
      'slotted_counters',
      rows((i) => `(1, ${id(i)}, 1, 1, 1, 0)`),
    )
    if (!onVitess) await crowd.execute('ANALYZE TABLE counters, slotted_counters')
  })

  it.each([2, 50, 300, MAX_READ])('%i counters reads only these, with ids below and above 2^63', async (many) => {
    const wanted = Array.from({ length: many }, (_, i) => counter(id(i * 19)))
    for (const consistency of [MAX_PENDING, 'rolled'] as const) {
      await readCounters(crowd, wanted, consistency)
      const [statement] = await crowd.recording(() => readCounters(crowd, wanted, consistency))
      // A look-up and a read for each in both tables, and more in temporary tables that sum and sort them. MariaDB also puts a
      // list of 1,000 into one.
      if (!onVitess) expect(statement!.rowsRead).toBeLessThan(12 * many + 20)
    }
    const readings = await readCounters(crowd, wanted)
    expect(readings.map(countIn)).toEqual(wanted.map((_, i) => BigInt(i * 19 + 1)))
  })
})
