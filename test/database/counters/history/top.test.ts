import { beforeAll, describe, expect, it } from 'vitest'
import { readRanking } from '../../../../src/counters/history/ranking.ts'
import { type Selection, selectionOf } from '../../../../src/counters/history/selection.ts'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { countPeriods } from '../../../harness/count-periods.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'

const TEXT = { recordType: 1, name: '' } as const
const days = (from: string, to: string): Selection => {
  const [firstDay, nextDay] = [Date.parse(from), Date.parse(to)]
  return selectionOf({ from: firstDay, to: nextDay, firstDay, nextDay })
}

let db: TestDatabase
const keys = async (period: Selection | null, limit = 100) =>
  (await readRanking(db, TEXT, period, { limit, hoursFrom: 0 })).map(({ name, count }) => `${name}: ${count}`)

beforeAll(async () => {
  db = await freshDatabase()
  const ids = [1n, 2n, 3n, 4n, 5n, 6n, 2n ** 63n, 2n ** 64n - 1n]
  const totals = [7n, 7n, 7n, 0n, -7n, -1n, 7n, 8n]
  const named = ids.map((recordId): CounterAddress => ({ recordType: 1, recordId, name: `key ${recordId}` }))
  await ensureNames(db, [...named, { recordType: 2, recordId: 9n, name: 'other' }])
  for (const [index, id] of ids.entries()) {
    await db.insert('totals', '(1, ?, ?, 1, NULL)', [id, totals[index]])
  }
  await db.insert('totals', '(2, 9, 100, 1, NULL)')
  const count = (at: string, ...amounts: [bigint, bigint][]) =>
    countPeriods(
      db,
      amounts.map(([recordId, amount]) => ({ recordType: 1, recordId, amount })),
      new Date(at),
    )
  await count('2026-11-15T23:59:59Z', [1n, 5n], [2n, -1n], [3n, 2n ** 63n - 1n])
  await count('2026-11-15T22:00:00Z', [3n, 2n ** 63n - 1n])
  await count('2026-11-16T00:00:00Z', [1n, 1n], [2n, 9n])
  await countPeriods(db, [{ recordType: 2, recordId: 9n, amount: 100n }], new Date('2026-11-16T00:00:00Z'))
})

describe('The ranking of a type', () => {
  it('lists the highest totals first, equal totals in a fixed order, and only totals above zero', async () => {
    const listed = ['key 18446744073709551615: 8', 'key 9223372036854775808: 7', 'key 3: 7', 'key 2: 7', 'key 1: 7']
    expect(await keys(null)).toEqual(listed)
    expect(await keys(null, 4)).toEqual(listed.slice(0, 4))
  })

  it('for a period lists what was counted in it', async () => {
    expect(await keys(days('2026-11-15', '2026-11-16'))).toEqual([`key 3: ${2n ** 64n - 2n}`, 'key 1: 5'])
    expect(await keys(days('2026-11-16', '2026-11-17'))).toEqual(['key 2: 9', 'key 1: 1'])
    expect(await keys(days('2026-11-17', '2026-11-18'))).toEqual([])
    expect(await keys(days('2026-11-16', '2026-11-23'))).toEqual(['key 2: 9', 'key 1: 1'])
    const all = [`key 3: ${2n ** 64n - 2n}`, 'key 2: 8', 'key 1: 6']
    expect(await keys(days('2026-11-01', '2026-12-01'))).toEqual(all)
    expect(await keys(days('2026-10-30', '2026-12-02'))).toEqual(all)
    expect(await keys(days('2026-11-15', '2026-11-17'), 2)).toEqual(all.slice(0, 2))
  })
})
