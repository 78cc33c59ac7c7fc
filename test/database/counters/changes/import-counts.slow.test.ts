import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { KeyReused } from '../../../../src/counters/changes/change.ts'
import { type ImportRow, importCounts } from '../../../../src/counters/changes/import-counts.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import type { Database } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { interleaved } from '../../../harness/interleaved-database.ts'
import { countOf } from '../../../harness/moves.ts'
import { onVitess } from '../../../harness/on-vitess.ts'
import { WatchedNetwork } from '../../../harness/row-locks.ts'
import { surely } from '../../../harness/surely.ts'

const AT = new Date('2026-11-20T12:00:00Z')
const counters = Array.from({ length: 5 }, (_, i): CounterAddress => {
  return {
    recordType: 1 + (i % 2),
    recordId: BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n),
    name: `/import/${i}`,
  }
})
const row = (counter: number, count: bigint, day?: string): ImportRow => {
  return { counter: counters[counter]!, count, day: day === undefined ? null : new Date(day) }
}
const ROWS = [
  row(0, 10n, '2026-10-31'),
  row(1, 5n),
  row(0, 7n, '2026-11-01'),
  row(0, 1n),
  row(3, -4n, '2026-11-01'),
  row(0, 100n, '2026-11-01'),
  row(4, 0n),
]
const SUMS = [118n, 5n, 0n, -4n, 0n]

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(() => {
  vi.restoreAllMocks()
})
const bring = (rows: readonly ImportRow[] = ROWS, id = random63(), on: Database = db) =>
  importCounts(on, rows, { id, at: AT })
const bringSurely = (rows: readonly ImportRow[], id: bigint, on: Database = db) => surely(() => bring(rows, id, on))
const counts = (of: readonly CounterAddress[] = counters) => Promise.all(of.map((counter) => countOf(db, counter)))
const sum = (of: string) => db.number(`SELECT COALESCE(SUM(count), 0) FROM ${of}`)
const expectAccounted = async () => {
  const totals = await sum('counters')
  const undated = await sum('counter_adjustments')
  for (const period of [1, 2]) {
    expect(await sum(`counter_periods WHERE period = ${period}`)).toBe(totals - undated)
    expect(await sum(`type_history WHERE period = ${period}`)).toBe(totals - undated)
  }
}

describe('An import', () => {
  it('adds all rows to the totals, and rows with a day to that day and its month', async () => {
    await bring()
    expect(await counts()).toEqual(SUMS)
    const days = await db.execute(
      'SELECT record_id, period, CAST(period_start AS CHAR) AS start, count FROM counter_periods WHERE record_type = 1 AND record_id = 0 ORDER BY period, period_start',
    )
    expect(days.rows.map(({ period, start, count }) => [Number(period), start, String(count)])).toEqual([
      [1, '2026-10-31', '10'],
      [1, '2026-11-01', '107'],
      [2, '2026-10-01', '10'],
      [2, '2026-11-01', '107'],
    ])
    expect(await sum('counter_history')).toBe(0n)
    expect(await sum('type_history WHERE record_type = 2 AND period = 1')).toBe(-4n)
    const marks = await db.execute('SELECT kind, count FROM counter_adjustments ORDER BY record_type, record_id')
    expect(marks.rows.map(({ kind, count }) => [Number(kind), String(count)])).toEqual([
      [2, '1'],
      [2, '0'],
      [2, '5'],
      [2, '0'],
    ])
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(4n)
    await expectAccounted()
  })

  it('happens completely or not at all if it is cut off at any statement, and once if it is repeated', async () => {
    // Retries do not pause.
    vi.spyOn(Math, 'random').mockReturnValue(0)
    let times = 0n
    for (const delivered of [false, true]) {
      for (let after = 0; after <= 11; after++) {
        // Each round imports into other counters.
        times++
        const own = ({ recordType, recordId, name }: CounterAddress): CounterAddress => {
          return { recordType, recordId: recordId + times * 1_000n, name: `${name}/${times}` }
        }
        const rows = ROWS.map((row) => ({ ...row, counter: own(row.counter) }))
        const ownCounts = () => counts(counters.map(own))
        const id = random63()
        const cut = db.open({ deadlineMs: 60_000, fetch: cutFetch({ after, delivered, rollback: true }) })
        const done = await bring(rows, id, cut).then(
          () => true,
          () => false,
        )
        const between = await ownCounts()
        expect([SUMS, SUMS.map(() => 0n)]).toContainEqual(between)
        if (done) expect(between).toEqual(SUMS)
        await bring(rows, id)
        expect(await ownCounts()).toEqual(SUMS)
        await expectAccounted()
      }
    }
  })

  it('of 1,000 rows in any order meets no deadlock with other imports of the same counters', async () => {
    const many = Array.from({ length: 1_000 }, (_, i): ImportRow => {
      return {
        counter: { recordType: 1, recordId: BigInt(i % 700), name: `/${i % 700}` },
        count: 1n,
        day: i % 3 ? AT : null,
      }
    })
    const ids = [random63(), random63(), random63(), random63()]
    const network = new WatchedNetwork()
    const watched = db.open({ deadlineMs: 30_000, fetch: network.fetch })
    await Promise.all(ids.map((id, i) => bringSurely(i % 2 ? many : many.toReversed(), id, watched)))
    expect([...network.lockErrors]).toEqual([])
    expect(await sum('counters')).toBe(4_000n)
    await expectAccounted()
  })
})

// With more ranges than the test database has. On shards, it has that many anyway.
describe('An import with several ranges', () => {
  const on = (ranges: number) => db.open({ deadlineMs: 30_000, ranges: Math.max(ranges, db.ranges) })
  /** In the first and the last range. */
  const apart = [0n, 2n ** 64n - 1n].map((recordId, i): ImportRow => {
    return { counter: { recordType: 1, recordId, name: `/${i}` }, count: 5n, day: null }
  })

  it.skipIf(onVitess)('is repeated if it was made while they were one', async () => {
    const id = random63()
    expect(await bring(apart, id, on(1))).toBe('done')
    expect(await bring(apart, id, on(4))).toBe('repeated')
    await expect(bring([...apart, ...apart], id, on(4))).rejects.toThrow(KeyReused)
  })

  it.skipIf(onVitess)('is made once while isolates have different ranges', async () => {
    const near = ROWS.map((row, i) => ({ ...row, counter: { ...row.counter, recordId: 2n ** 63n + BigInt(i) } }))
    for (const id of [random63(), random63()]) {
      // The other one comes in once this has looked for the key.
      const slow = interleaved(on(2), /^SELECT record_type, record_id, 1 FROM counters/, () =>
        bringSurely(near, id, on(1)),
      )
      await bringSurely(near, id, slow)
    }
    expect(await sum('counters')).toBe(2n * SUMS.reduce((all, one) => all + one))
  })
})
