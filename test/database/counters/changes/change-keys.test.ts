import { beforeEach, describe, expect, it } from 'vitest'
import { KeyReused } from '../../../../src/counters/changes/change.ts'
import { type ImportRow, importCounts } from '../../../../src/counters/changes/import-counts.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import { openDatabase } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { countOf, setCounter } from '../../../harness/moves.ts'
import { surely } from '../../../harness/surely.ts'

const AT = new Date('2026-11-20T12:00:00Z')
const counters = Array.from({ length: 6 }, (_, i): CounterAddress => {
  return { recordType: 1, recordId: BigInt(i) + 1n, name: `/key/${i}` }
})
const row = (counter: number, count: bigint, day?: Date): ImportRow => {
  return { counter: counters[counter]!, count, day: day ?? null }
}

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})
const set = async (counter: number, count: bigint, id: bigint | null) =>
  await setCounter(db, counters[counter]!, { count, id, at: AT })
const bring = (rows: readonly ImportRow[], id: bigint) => importCounts(db, rows, { id, at: AT })
const counts = () => Promise.all(counters.map(async (counter) => Number(await countOf(db, counter))))
/** Sends a request until it is not overtaken. */
const answered = <T>(send: () => Promise<T>): Promise<T | 'refused'> =>
  surely(send).catch((error: unknown) => {
    if (error instanceof KeyReused) return 'refused'
    throw error
  })

describe('A key that comes again with other contents', () => {
  it('is refused for an import, even if none of its counters had the key', async () => {
    const id = random63()
    const rows = [row(0, 1n), row(1, 2n, AT)]
    expect(await bring(rows, id)).toBe('done')
    const others = [
      [row(0, 1n)],
      [...rows, row(2, 3n)],
      [row(0, 1n), row(1, 2n)],
      [row(0, 1n), row(1, 2n, new Date('2026-11-19'))],
      [row(4, 1n), row(5, 2n)],
    ]
    for (const other of others) await expect(bring(other, id)).rejects.toThrow(KeyReused)
    expect(await bring(rows.toReversed(), id)).toBe('repeated')
    expect(await counts()).toEqual([1, 2, 0, 0, 0, 0])
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(2n)
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(2n)
  })

  it('is refused for all but one of the settings that race', async () => {
    const id = random63()
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, i) => answered(() => set(0, BigInt(i % 4) + 1n, id))),
    )
    const [count] = await counts()
    // Those with the count that won were done once, and repeated.
    expect(outcomes.map((outcome) => outcome !== 'refused')).toEqual(outcomes.map((_, i) => (i % 4) + 1 === count))
    expect(outcomes.filter((outcome) => outcome === 'set')).toHaveLength(1)
    expect(await db.number('SELECT COUNT(*) FROM counter_adjustments')).toBe(1n)
  })

  it('is refused for all but one of the imports that race', async () => {
    const id = random63()
    const of = (i: number) => [row(i % 3, 5n), row(3 + (i % 3), 7n)]
    const outcomes = await Promise.all(Array.from({ length: 12 }, (_, i) => answered(() => bring(of(i), id))))
    const winner = outcomes.findIndex((outcome) => outcome !== 'refused')
    expect(outcomes.map((outcome) => outcome !== 'refused')).toEqual(outcomes.map((_, i) => i % 3 === winner))
    const expected = [0, 0, 0, 0, 0, 0]
    expected[winner] = 5
    expected[3 + winner] = 7
    expect(await counts()).toEqual(expected)
  })
})

describe('A setting with a key', () => {
  it.each([
    'SELECT record_type, record_id, 1',
    'BEGIN',
    'FOR UPDATE NOWAIT',
    'INSERT IGNORE INTO change_keys',
    'SELECT slot, count',
    'INSERT INTO counters',
    'INTO counter_adjustments',
    'COMMIT',
  ])('is made once if the answer to %s is lost', async (match) => {
    const id = random63()
    await set(0, 3n, null)
    // If the answer to the first statement is lost, its locks stay until the server ends the transaction.
    await db.behave({ transactionMs: 1_000, faults: [{ action: 'cut-answer', match }] })
    expect(await surely(() => set(0, 10n, id))).toMatch(/set|repeated/)
    await db.behave()
    expect(await set(0, 10n, id)).toBe('repeated')
    await expect(set(0, 11n, id)).rejects.toThrow(KeyReused)
    expect((await counts())[0]).toBe(10)
    expect(await db.number('SELECT COUNT(*) FROM counter_adjustments')).toBe(2n)
  })

  it('leaves its key free if it was not made', async () => {
    const id = random63()
    await db.behave({ faults: [{ action: 'cut-request', match: 'INSERT INTO counters', times: 100 }] })
    await expect(set(0, 10n, id)).rejects.toThrow()
    await db.behave()
    expect(await set(0, 11n, id)).toBe('set')
  })
})

describe('An import', () => {
  it('is recognized with any number of ranges, and so is that a part of it is imported', async () => {
    const ranges = [1, 2, 4, 256]
    const on = (ranges: number) =>
      openDatabase({ url: db.url, deadlineMs: 60_000, ranges: Math.max(ranges, db.ranges) })
    // In the last quarter.
    const [a, b] = [counters[3]!, counters[3]!].map((counter, i) => {
      return { ...counter, recordId: 2n ** 64n - 1_000n + BigInt(i), name: `/last/${i}` }
    })
    const rows: ImportRow[] = [a!, b!].map((counter) => ({ counter, count: 1n, day: null }))
    const send = (rows: readonly ImportRow[], id: bigint, ranges: number) =>
      importCounts(on(ranges), rows, { id, at: AT })
    for (const first of ranges) {
      const [whole, part] = [random63(), random63()]
      expect(await send(rows, whole, first)).toBe('done')
      expect(await send(rows.slice(0, 1), part, first)).toBe('done')
      for (const then of ranges) {
        expect(await send(rows, whole, then)).toBe('repeated')
        await expect(send(rows, part, then)).rejects.toThrow(KeyReused)
      }
    }
    expect([await countOf(db, a!), await countOf(db, b!)]).toEqual([8n, 4n])
  })
})
