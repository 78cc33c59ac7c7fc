import { beforeEach, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { type AskedRange, HISTORY_UNITS, historyRange } from '../../../../src/counters/history/history-range.ts'
import { MAX_ADJUSTMENTS } from '../../../../src/counters/history/read-history.ts'

import { beside } from '../../../harness/beside.ts'
import { countPeriods } from '../../../harness/count-periods.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { counterHistory, sumHistory } from '../../../harness/histories.ts'
import { countOn, rollUpAt } from '../../../harness/moves.ts'

const NOW = new Date('2026-11-20T10:30:00Z')
const ONE: CounterAddress = { recordType: 1, recordId: 1n, name: '/1' }
const rangeOf = (asked: Partial<AskedRange>) =>
  historyRange({ by: 'day', timeZone: 'UTC', from: undefined, to: undefined, ...asked }, NOW)
const sum = (counts: readonly bigint[]) => counts.reduce((all, one) => all + one, 0n)

describe('A history', () => {
  let db: TestDatabase
  const roll = (at: string, recordId = 1n, amount = 1n, recordType = 1) =>
    countPeriods(db, [{ recordType, recordId, amount }], new Date(at))
  const read = async (asked: Partial<AskedRange>) => (await counterHistory(db, ONE, rangeOf(asked), NOW)).counts
  const add = (by: bigint, slot: bigint, batch: bigint) => countOn(db, ONE, by, batch, slot)
  beforeEach(async () => {
    db = await freshDatabase()
  })

  it('contains each count in the period of the requested time zone, and no other counter’s', async () => {
    await roll('2026-11-18T22:59:00Z', 1n, 1n)
    await roll('2026-11-18T23:00:00Z', 1n, 10n)
    await roll('2026-11-20T10:00:00Z', 1n, 100n)
    for (const [id, type] of [
      [0n, 1],
      [2n, 1],
      [1n, 2],
    ] as const)
      await roll('2026-11-19T00:00:00Z', id, 1_000n, type)
    const from = '2026-11-18'
    expect(await read({ from })).toEqual([11n, 0n, 100n])
    expect(await read({ from, timeZone: 'Europe/Berlin' })).toEqual([1n, 10n, 100n])
    expect(await read({ from, timeZone: 'Asia/Tokyo' })).toEqual([0n, 11n, 100n])
    expect(await read({ by: 'month', from: '2026-10-01' })).toEqual([0n, 111n])
    const hours = await read({ by: 'hour', from: '2026-11-18T22:00:00Z', to: '2026-11-19' })
    expect(hours).toEqual([1n, 10n])
  })

  it('by week begins on the local Monday, of a counter and of its type', async () => {
    // Sunday in New York and Berlin, Sunday in New York alone, Monday in both. Then hours within the week.
    await roll('2026-11-15T22:59:00Z', 1n, 1n)
    await roll('2026-11-15T23:00:00Z', 1n, 10n)
    await roll('2026-11-16T04:59:00Z', 1n, 100n)
    await roll('2026-11-16T05:00:00Z', 1n, 1_000n)
    for (const hour of ['18T00', '18T23', '19T04']) await roll(`2026-11-${hour}:30:00Z`, 1n, 10_000n)
    // A day without hours belongs to the week of its date in every time zone.
    const { recordId, recordType } = ONE
    await countPeriods(db, [{ recordType, recordId, amount: 100_000n }], new Date('2026-11-15'), 'day')
    const weeks: [string, bigint[]][] = [
      ['UTC', [100_011n, 31_100n]],
      ['Europe/Berlin', [100_001n, 31_110n]],
      ['America/New_York', [100_111n, 31_000n]],
    ]
    for (const [timeZone, counts] of weeks) {
      const asked = { by: 'week', from: '2026-11-15', timeZone } as const
      expect([timeZone, await read(asked)]).toEqual([timeZone, counts])
      expect([timeZone, await sumHistory(db, { recordType: 1, name: '' }, rangeOf(asked))]).toEqual([timeZone, counts])
    }
  })

  it('includes pending counts in the current period, if that is in the range', async () => {
    await roll('2026-11-20T10:00:00Z', 1n, 100n)
    await add(5n, 1n, 1n)
    await add(-2n, 2n, 2n)
    for (const timeZone of ['UTC', 'Asia/Kathmandu']) {
      for (const by of HISTORY_UNITS) expect((await read({ by, timeZone })).at(-1)).toBe(103n)
    }
    expect(await read({ from: '2026-11-19', to: '2026-11-20' })).toEqual([0n])
    // In a range that ends in the future, the current period is not the last one.
    expect(await read({ from: '2026-11-20', to: '2026-11-22' })).toEqual([103n, 0n])
    expect(await read({ from: '2026-12-01', to: '2026-12-02' })).toEqual([0n])
  })

  it('neither counts twice nor misses anything while a roll-up runs', async () => {
    for (let slot = 1n; slot <= 60n; slot++) await add(1n, slot, slot)
    const seen = new Set<string>()
    let reads = 0
    const rolled = await beside(rollUpAt(db, NOW, { pageSlots: 3, lease: true }), async () => {
      const by = HISTORY_UNITS[reads % 4]!
      const timeZone = reads % 8 < 4 ? 'UTC' : 'Europe/Berlin'
      seen.add(`${sum(await read({ by, timeZone }))}`)
      reads++
    })
    expect(rolled).toMatchObject({ outcome: 'complete', moved: 60n })
    expect(reads).toBeGreaterThan(10)
    expect([...seen]).toEqual(['60'])
  })

  it('lists the adjustments within the range, in their order, and no others', async () => {
    const adjust = (recordId: number, id: bigint, kind: number, at: string, count: bigint) =>
      db.insert('counter_adjustments', '(1, ?, ?, ?, ?, ?)', [recordId, id, kind, at, count])
    await adjust(1, 2n ** 64n - 1n, 1, '2026-11-18 00:00:00.000', -(2n ** 64n))
    await adjust(1, 1n, 2, '2026-11-19 23:59:59.999', 7n)
    await adjust(1, 2n, 2, '2026-11-19 12:00:00.000', 0n)
    await adjust(1, 3n, 1, '2026-11-17 23:59:59.999', 1n)
    await adjust(1, 4n, 1, '2026-11-20 00:00:00.000', 1n)
    await adjust(2, 1n, 1, '2026-11-18 00:00:00.000', 1n)
    const { adjustments, counts } = await counterHistory(
      db,
      ONE,
      rangeOf({ from: '2026-11-18', to: '2026-11-20' }),
      NOW,
    )
    expect(adjustments).toEqual([
      { at: new Date('2026-11-18T00:00:00.000Z'), kind: 'set', count: -(2n ** 64n) },
      { at: new Date('2026-11-19T23:59:59.999Z'), kind: 'import', count: 7n },
    ])
    expect(counts).toEqual([0n, 0n])
  })

  it('lists only the newest adjustments if there are very many', async () => {
    const rows = Array.from(
      { length: MAX_ADJUSTMENTS + 5 },
      (_, i) => `(1, 1, ${i}, 1, '2026-11-18' + INTERVAL ${i} SECOND, ${i + 1})`,
    )
    await db.insert('counter_adjustments', rows)
    const { adjustments } = await counterHistory(db, ONE, rangeOf({}), NOW)
    expect(adjustments.map(({ count }) => count)).toEqual(
      Array.from({ length: MAX_ADJUSTMENTS }, (_, i) => BigInt(i + 6)),
    )
  })

  it('of a type sums its counters', async () => {
    await roll('2026-11-18T22:59:00Z', 1n, 1n)
    await roll('2026-11-18T23:00:00Z', 2n, 10n)
    await roll('2026-11-20T10:00:00Z', 3n, 100n)
    await roll('2026-11-20T10:00:00Z', 1n, 1_000n, 2)
    const from = '2026-11-18'
    const ofType = async (asked: Partial<AskedRange>) =>
      sumHistory(db, { recordType: 1, name: '' }, rangeOf({ from, ...asked }))
    expect(await ofType({})).toEqual([11n, 0n, 100n])
    expect(await ofType({ timeZone: 'Europe/Berlin' })).toEqual([1n, 10n, 100n])
    expect(await ofType({ by: 'month' })).toEqual([111n])
    expect(sum(await ofType({ by: 'hour' }))).toBe(111n)
  })

  it('is exact beyond 64 bits', async () => {
    for (let i = 0; i < 3; i++) await roll('2026-11-20T10:00:00Z', 1n, 2n ** 63n - 1n)
    for (const timeZone of ['UTC', 'Europe/Berlin']) {
      expect((await read({ timeZone })).at(-1)).toBe(3n * (2n ** 63n - 1n))
    }
  })
})
