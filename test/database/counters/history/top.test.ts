import { beforeAll, describe, expect, it } from 'vitest'
import { readTop } from '../../../../src/counters/history/ranking.ts'
import type { Part } from '../../../../src/counters/history/selection.ts'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { countPeriods } from '../../../harness/count-periods.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'

const TEXT = { recordType: 1 } as const
const day = (date: string): Part => ({ period: 'day', start: Date.parse(date) })

let db: TestDatabase
const keys = async (top: Part | null, limit = 100) =>
  (await readTop(db, TEXT, top, limit)).map(({ name, count }) => `${name}: ${count}`)

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
    expect(await keys(day('2026-11-15'))).toEqual([`key 3: ${2n ** 64n - 2n}`, 'key 1: 5'])
    expect(await keys(day('2026-11-16'))).toEqual(['key 2: 9', 'key 1: 1'])
    expect(await keys(day('2026-11-17'))).toEqual([])
    expect(await keys({ period: 'week', start: Date.parse('2026-11-16') })).toEqual(['key 2: 9', 'key 1: 1'])
    expect(await keys({ period: 'month', start: Date.parse('2026-11-01') })).toEqual([
      `key 3: ${2n ** 64n - 2n}`,
      'key 2: 8',
      'key 1: 6',
    ])
  })
})
