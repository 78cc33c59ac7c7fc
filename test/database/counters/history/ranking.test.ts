import { beforeAll, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { readRanking } from '../../../../src/counters/history/ranking.ts'
import { selectionOf } from '../../../../src/counters/history/selection.ts'
import { addressOfKey } from '../../../../src/counters/keys/key-address.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { TooManyKeys } from '../../../../src/counters/keys/prefix.ts'
import { countPeriods } from '../../../harness/count-periods.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { countOn, move, rollUpAt } from '../../../harness/moves.ts'

const TYPE = { recordType: 1 } as const
const MOST = 2n ** 63n - 1n
const YEAR = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)] as const

let db: TestDatabase
const counters = new Map<string, CounterAddress>()
const daysOf = ([from, to]: readonly [number, number]) => selectionOf({ from, to, firstDay: from, nextDay: to })
const ranked = async (name: string, period: readonly [number, number] | null, limit = 100) => {
  const found = await readRanking(db, { recordType: 1, name }, period && daysOf(period), { limit, hoursFrom: 0 })
  return found.map(({ name, count }) => `${name}: ${count}`)
}

describe('The ranking of a prefix', () => {
  beforeAll(async () => {
    db = await freshDatabase()
    for (const key of ['a', 'a/1', 'a/2', 'a/3', 'a/none', 'a/\u{10ffff}', 'a/gone', 'a0', 'A/1', 'b']) {
      const counter = await addressOfKey(TYPE, key)
      counters.set(key, counter)
      await db.insert('names', '(1, ?, ?)', [counter.recordId, key])
    }
    const count = async (at: string, amounts: Record<string, bigint>) => {
      const changes = Object.entries(amounts).map(([key, amount]) => ({ ...counters.get(key)!, amount }))
      await countPeriods(
        db,
        changes.sort((a, b) => (a.recordId < b.recordId ? -1 : 1)),
        new Date(at),
      )
    }
    await count('2025-12-31T23:59:59Z', { 'a/1': 1_000n, b: 1_000n })
    await count('2026-01-01T00:00:00Z', { 'a/1': 1n, 'a/2': MOST, a0: 9n, 'A/1': 9n, a: 9n })
    await count('2026-05-31T12:00:00Z', { 'a/1': 2n, 'a/2': MOST, 'a/3': -5n, 'a/\u{10ffff}': 4n })
    await count('2026-12-31T23:59:59Z', { 'a/1': 4n, b: 9n })
    await count('2027-01-01T00:00:00Z', { 'a/1': 1_000n, 'a/3': 1_000n })
    await countOn(db, counters.get('a/gone')!, 100n)
    await countOn(db, counters.get('a/3')!, 2n)
    await rollUpAt(db, new Date('2028-01-01T00:00:00Z'))
    await move(db, counters.get('a/gone')!)
    // Pending counts are in no ranking.
    await countOn(db, counters.get('a/none')!, 50n)
  })

  it('of a period adds up its parts beyond 64 bits, without other keys, deleted counters and what is not above zero', async () => {
    expect(await ranked('a/', YEAR)).toEqual([`a/2: ${2n * MOST}`, 'a/1: 7', 'a/\u{10ffff}: 4'])
    expect(await ranked('a/', [Date.UTC(2026, 4, 30), Date.UTC(2026, 11, 31)])).toEqual([
      `a/2: ${MOST}`,
      'a/\u{10ffff}: 4',
      'a/1: 2',
    ])
    expect(await ranked('a', YEAR, 3)).toEqual([`a/2: ${2n * MOST}`, ...['a0: 9', 'a: 9'].sort(byRecordId)])
    expect(await ranked('c', YEAR)).toEqual([])
    expect(await ranked('', YEAR, 1)).toEqual([`a/2: ${2n * MOST}`])
  })

  it('of all time has the totals', async () => {
    expect(await ranked('a/', null)).toEqual(['a/3: 2'])
  })

  it('of a period without rows is empty', async () => {
    expect(await ranked('a/', [YEAR[0], YEAR[0]])).toEqual([])
  })

  it('reads each key once for each part of the period, however long it has counted', async () => {
    const { recordId } = counters.get('a/2')!
    const days = Array.from({ length: 3_000 }, (_, i) => `(1, ${recordId}, 1, '2017-01-01' + INTERVAL ${i} DAY, 1)`)
    await db.insert('counter_periods', days)
    const statements = await db.recording(async () => {
      await ranked('a/', [Date.UTC(2026, 2, 2), Date.UTC(2026, 2, 4)])
    })
    // Six keys and two days.
    expect(statements.reduce((sum, { rowsRead }) => sum + (rowsRead ?? 0), 0)).toBeLessThan(100)
  })

  it('is refused above a number of rows', async () => {
    const of = { recordType: 1, name: 'a/' }
    const ask = (maxRows: number) => readRanking(db, of, daysOf(YEAR), { limit: 10, maxRows, hoursFrom: 0 })
    // Twelve months, and what is read beside them.
    await expect(ask(29 * 6)).resolves.toHaveLength(3)
    await expect(ask(29 * 6 - 1)).rejects.toThrow(TooManyKeys)
  })
})

describe('The ranking of a type', () => {
  it('lists the highest totals first, equal totals in a fixed order, and only totals above zero', async () => {
    const db = await freshDatabase()
    const ids = [1n, 2n, 3n, 4n, 5n, 6n, 2n ** 63n, 2n ** 64n - 1n]
    const totals = [7n, 7n, 7n, 0n, -7n, -1n, 7n, 8n]
    await ensureNames(
      db,
      ids.map((recordId) => ({ recordType: 1, recordId, name: `key ${recordId}` })),
    )
    for (const [index, id] of ids.entries()) await db.insert('totals', '(1, ?, ?, 1, NULL)', [id, totals[index]])
    await db.insert('totals', '(2, 9, 100, 1, NULL)')
    const keys = async (limit: number) =>
      (await readRanking(db, { recordType: 1, name: '' }, null, { limit, hoursFrom: 0 })).map(({ name }) => name)
    const listed = [2n ** 64n - 1n, 2n ** 63n, 3n, 2n, 1n].map((id) => `key ${id}`)
    expect(await keys(100)).toEqual(listed)
    expect(await keys(4)).toEqual(listed.slice(0, 4))
  })
})

/** Of equal counts, the higher record id comes first. */
function byRecordId(a: string, b: string): number {
  const idOf = (line: string) => counters.get(line.split(':')[0]!)!.recordId
  return idOf(a) > idOf(b) ? -1 : 1
}
