import { beforeAll, describe, expect, it } from 'vitest'
import { applyBatch, makeBatch } from '../../src/counters/batch.ts'
import { type Counter, counterOf } from '../../src/counters/counter.ts'
import { type ExportPage, type ExportRow, exportDays, exportTotals } from '../../src/counters/export.ts'
import { importCounts } from '../../src/counters/imports.ts'
import { storeNames } from '../../src/counters/names.ts'
import { random64 } from '../../src/counters/random.ts'
import { readCounters } from '../../src/counters/read.ts'
import { rollUp } from '../../src/counters/rollup.ts'
import { setCounter } from '../../src/counters/set.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const ROLL_UP = { pageSlots: 500, maxStatements: 100, maxSeconds: 60, lease: false }
const TYPE = { recordType: 1, key: 'string' } as const

let db: TestDatabase
const counters: Counter[] = []
const expected = new Map<bigint, bigint>()

beforeAll(async () => {
  db = await freshDatabase()
  for (let i = 0; i < 30; i++) counters.push(await counterOf(TYPE, `/export/${i}`))
  await storeNames(db, counters)
  const count = async (some: readonly Counter[], by: bigint) => {
    const increments = some.map((counter) => ({ counter, by }))
    await applyBatch(
      db,
      makeBatch(random64(), increments, () => random64()),
    )
  }
  const id = () => ({ id: random64(), at: NOW })
  // Rolled up two days ago, imported with and without days, set, pending in several slots, pending only; and another type.
  await count(counters.slice(0, 20), 3n)
  await rollUp(db, { ...ROLL_UP, at: new Date('2026-11-18T23:59:00Z') })
  const days = ['2025-01-01', '2026-11-01', '2026-11-20']
  await importCounts(
    db,
    days.map((day) => ({ counter: counters[5]!, count: 10n, day: new Date(day) })),
    id(),
  )
  await importCounts(db, [{ counter: counters[6]!, count: 2n ** 60n + 1n, day: null }], id())
  await setCounter(db, counters[7]!, { count: 1_000n, ...id() })
  await setCounter(db, counters[25]!, { count: 0n, ...id() })
  for (let i = 0; i < 7; i++) await count(counters.slice(3, 28), 1n)
  await count([{ recordType: 2, recordId: 1n, name: null }], 9n)
  for (const counter of counters.slice(0, 28)) {
    const [reading] = await readCounters(db, [counter])
    expected.set(counter.recordId, reading!.total + reading!.pending)
  }
})

async function all(read: (after: bigint | null) => Promise<ExportPage>): Promise<ExportRow[]> {
  const rows: ExportRow[] = []
  let after: bigint | null = null
  do {
    const page: ExportPage = await read(after)
    rows.push(...page.rows)
    after = page.next
  } while (after !== null)
  return rows
}
const sums = (rows: readonly ExportRow[]) => {
  const sums = new Map<bigint, bigint>()
  for (const { recordId, count } of rows) sums.set(recordId, (sums.get(recordId) ?? 0n) + count)
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
}
const sorted = () => new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1)))

describe('an export', () => {
  it.each([1, 2, 7, 28, 29, 1_000])(
    'by totals, %i rows a page, has every counter once, with its name and exact count',
    async (limit) => {
      const rows = await all((after) => exportTotals(db, { recordType: 1, after, limit }))
      expect(new Map(rows.map(({ recordId, count }) => [recordId, count]))).toEqual(sorted())
      expect(rows).toHaveLength(28)
      const names = new Map(counters.map(({ recordId, name }) => [recordId, name]))
      for (const { recordId, name } of rows) expect(name).toBe(names.get(recordId))
    },
  )

  it.each([1, 2, 7, 1_000])('by days, %i rows a page, adds up to the same counts, no day twice', async (limit) => {
    const rows = await all((after) => exportDays(db, { recordType: 1, after, limit, now: NOW }))
    expect(sums(rows)).toEqual(sorted())
    expect(new Set(rows.map(({ recordId, day }) => `${recordId} ${day}`)).size).toBe(rows.length)
    expect(rows.every(({ name }) => name !== null)).toBe(true)
    const of = (index: number) =>
      rows.filter(({ recordId }) => recordId === counters[index]!.recordId).map(({ day, count }) => [day, count])
    expect(of(5)).toEqual([
      ['2025-01-01', 10n],
      ['2026-11-01', 10n],
      ['2026-11-18', 3n],
      ['2026-11-20', 17n],
    ])
    expect(of(6)).toEqual([
      [null, 2n ** 60n + 1n],
      ['2026-11-18', 3n],
      ['2026-11-20', 7n],
    ])
    expect(of(7)).toEqual([
      [null, 997n],
      ['2026-11-18', 3n],
      ['2026-11-20', 7n],
    ])
    expect(of(27)).toEqual([['2026-11-20', 7n]])
  })

  it('by days is the same while the roll-up moves what is pending, between any two pages', async () => {
    const before = await all((after) => exportDays(db, { recordType: 1, after, limit: 1_000, now: NOW }))
    let pages = 0
    const rows = await all(async (after) => {
      const page = await exportDays(db, { recordType: 1, after, limit: 3, now: NOW })
      await rollUp(db, { ...ROLL_UP, pageSlots: 10, maxStatements: 14, at: NOW })
      pages++
      return page
    })
    expect(pages).toBeGreaterThan(5)
    expect(rows).toEqual(before)
  })

  it('imported elsewhere gives the same counts and days', async () => {
    for (const read of [
      (after: bigint | null) => exportDays(db, { recordType: 1, after, limit: 10, now: NOW }),
      (after: bigint | null) => exportTotals(db, { recordType: 1, after, limit: 10 }),
    ]) {
      const elsewhere = await freshDatabase()
      const rows = await all(read)
      const imported = rows.map(({ recordId, name, count, day }) => {
        return { counter: { recordType: 1, recordId, name }, count, day: day === null ? null : new Date(day) }
      })
      await importCounts(elsewhere, imported, { id: random64(), at: NOW })
      const again = await all((after) => exportDays(elsewhere, { recordType: 1, after, limit: 9, now: NOW }))
      expect(sums(again)).toEqual(sorted())
      if (rows.some(({ day }) => day !== null)) expect(again).toEqual(rows)
    }
  })

  it('of a page reads what it returns, however much there is beside it', async () => {
    const large = await freshDatabase()
    for (let type = 1; type <= 2; type++) {
      const ids = Array.from({ length: 20_000 }, (_, i) => i)
      await large.execute(`INSERT INTO counter_totals VALUES ${ids.map((i) => `(${type},${i},5,1,NULL)`).join(',')}`)
      await large.execute(
        `INSERT INTO counter_periods VALUES ${ids.map((i) => `(${type},${i},1,'2026-11-01',5)`).join(',')}`,
      )
      await large.execute(
        `INSERT INTO slotted_counters VALUES ${ids.map((i) => `(${type},${i},7,${i % 2},1,1,DEFAULT)`).join(',')}`,
      )
    }
    await large.execute('ANALYZE TABLE counter_totals, counter_periods, slotted_counters')
    const page = { recordType: 1, after: 10_000n, limit: 50 }
    const statements = await large.recording(async () => {
      expect((await exportTotals(large, page)).rows).toHaveLength(50)
      expect((await exportDays(large, { ...page, now: NOW })).rows.length).toBeGreaterThan(20)
    })
    expect(statements).toHaveLength(3)
    for (const { sql, rowsRead } of statements) {
      expect({ sql: sql.slice(0, 60), few: rowsRead < 1_000, rowsRead }).toMatchObject({ few: true })
    }
  })
})
