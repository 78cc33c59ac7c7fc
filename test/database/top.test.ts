import { beforeAll, describe, expect, it } from 'vitest'
import type { Counter } from '../../src/counters/counter.ts'
import { addToHistory } from '../../src/counters/history.ts'
import { storeNames } from '../../src/counters/names.ts'
import { readTop, type TopPeriod } from '../../src/counters/top.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const TEXT = { recordType: 1, key: 'string' } as const
const NUMBER = { recordType: 1, key: 'integer' } as const
const ALL: TopPeriod = { period: 'all' }
const day = (date: string): TopPeriod => ({ period: 'day', start: new Date(date) })

let db: TestDatabase
const keys = async (type: typeof TEXT | typeof NUMBER, top: TopPeriod, limit = 100) =>
  (await readTop(db, type, top, limit)).map(({ key, count }) => `${key}: ${count}`)

beforeAll(async () => {
  db = await freshDatabase()
  const ids = [1n, 2n, 3n, 4n, 5n, 6n, 2n ** 63n, 2n ** 64n - 1n]
  const totals = [7n, 7n, 7n, 0n, -7n, 2n ** 63n - 1n, 7n, 8n]
  const named = ids
    .filter((id) => id !== 6n)
    .map((recordId): Counter => ({ recordType: 1, recordId, name: `key ${recordId}` }))
  await storeNames(db, [...named, { recordType: 2, recordId: 9n, name: 'other' }])
  for (const [index, id] of ids.entries()) {
    await db.execute('INSERT INTO counter_totals VALUES (1, ?, ?, 1, NULL)', [id, totals[index]])
  }
  await db.execute('INSERT INTO counter_totals VALUES (2, 9, 100, 1, NULL)')
  const count = (at: string, ...amounts: [bigint, bigint][]) =>
    addToHistory(
      db,
      amounts.map(([recordId, amount]) => ({ recordType: 1, recordId, amount })),
      new Date(at),
    )
  await count('2026-11-15T23:59:59Z', [1n, 5n], [2n, -1n], [3n, 2n ** 63n - 1n])
  await count('2026-11-15T22:00:00Z', [3n, 2n ** 63n - 1n])
  await count('2026-11-16T00:00:00Z', [1n, 1n], [2n, 9n])
  await addToHistory(db, [{ recordType: 2, recordId: 9n, amount: 100n }], new Date('2026-11-16T00:00:00Z'))
})

describe('the top of a type', () => {
  it('has its highest totals first, equal ones always in the same order, and none that is not above zero', async () => {
    const eight = ['18446744073709551615: 8', '9223372036854775808: 7', '3: 7', '2: 7', '1: 7']
    expect(await keys(NUMBER, ALL)).toEqual(['6: 9223372036854775807', ...eight])
    expect(await keys(NUMBER, ALL, 4)).toEqual(['6: 9223372036854775807', ...eight.slice(0, 3)])
  })

  it('has their names, and not those whose name is still to be stored', async () => {
    expect(await keys(TEXT, ALL)).toEqual([
      'key 18446744073709551615: 8',
      'key 9223372036854775808: 7',
      'key 3: 7',
      'key 2: 7',
      'key 1: 7',
    ])
  })

  it('of a period has what was counted in it', async () => {
    expect(await keys(TEXT, day('2026-11-15'))).toEqual([`key 3: ${2n ** 64n - 2n}`, 'key 1: 5'])
    expect(await keys(TEXT, day('2026-11-16'))).toEqual(['key 2: 9', 'key 1: 1'])
    expect(await keys(TEXT, day('2026-11-17'))).toEqual([])
    expect(await keys(TEXT, { period: 'week', start: new Date('2026-11-16') })).toEqual(['key 2: 9', 'key 1: 1'])
    expect(await keys(TEXT, { period: 'month', start: new Date('2026-11-01') })).toEqual([
      `key 3: ${2n ** 64n - 2n}`,
      'key 2: 8',
      'key 1: 6',
    ])
  })
})
