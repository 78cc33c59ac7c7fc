import { describe, expect, it } from 'vitest'
import { type CounterAddress, counterId } from '../../../src/counters/counter-address.ts'
import { StoredNames, storeNames } from '../../../src/counters/names.ts'
import type { Executor } from '../../../src/database/database.ts'

const counter = (recordId: number, recordType = 1): CounterAddress => ({
  recordType,
  recordId: BigInt(recordId),
  name: `/page/${recordId}`,
})

/** Accepts and records every statement. test/database uses a real database. */
class Recorder implements Executor {
  readonly sent: { sql: string; args: readonly unknown[] }[] = []
  failing = false
  async execute(sql: string, args: readonly unknown[] = []) {
    this.sent.push({ sql, args })
    if (this.failing) throw new Error('no database')
    return { rows: [], rowsAffected: 0 }
  }
}

describe('The names that are known to be stored', () => {
  it('are those that were added', () => {
    const stored = new StoredNames()
    stored.add(counter(1), 0)
    expect(stored.has(counter(1), 0)).toBe(true)
    expect(stored.has(counter(2), 0)).toBe(false)
    expect(stored.has(counter(1, 2), 0)).toBe(false)
  })

  it('are believed for ten minutes, because a name may be deleted, and not at all once this isolate has deleted it', () => {
    const stored = new StoredNames()
    const now = 1_000_000_000
    for (const id of [1, 2]) stored.add(counter(id), now)
    expect([stored.has(counter(1), now + 599_999), stored.has(counter(1), now + 600_000)]).toEqual([true, false])
    // The clock was set back.
    expect(stored.has(counter(1), now - 1)).toBe(false)
    stored.forget(counter(2))
    expect(stored.toStore([counter(1), counter(2)], now).map(counterId)).toEqual(['1/2'])
  })

  it('are at most the 20,000 newest', () => {
    const stored = new StoredNames()
    for (let id = 0; id < 1_000_000; id++) stored.add(counter(id), 0)
    const remembered: number[] = []
    for (let id = 0; id < 1_000_000; id++) if (stored.has(counter(id), 0)) remembered.push(id)
    expect(remembered).toEqual(Array.from({ length: 20_000 }, (_, i) => 980_000 + i))
  })
})

describe('Storing names', () => {
  it('needs one statement, in primary key order, for all names that may be missing', async () => {
    const db = new Recorder()
    const counters = [counter(30), counter(2, 2), counter(4), counter(30), counter(1, 2)]
    await storeNames(db, new StoredNames().toStore(counters, 0), 1)
    expect(db.sent).toEqual([
      {
        sql: 'INSERT IGNORE INTO counter_names (record_type, record_id, name) VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?)',
        args: [1, 4n, '/page/4', 1, 30n, '/page/30', 2, 1n, '/page/1', 2, 2n, '/page/2'],
      },
    ])
  })

  it('sorts record ids as numbers, also beyond 2^53', async () => {
    const db = new Recorder()
    const ids = [2n ** 64n - 1n, 9n, 2n ** 63n, 10n, 2n ** 53n + 1n, 2n ** 53n]
    await storeNames(
      db,
      ids.map((recordId) => ({ recordType: 1, recordId, name: 'n' })),
      1,
    )
    expect(db.sent[0]?.args.filter((_, i) => i % 3 === 1)).toEqual([
      9n,
      10n,
      2n ** 53n,
      2n ** 53n + 1n,
      2n ** 63n,
      2n ** 64n - 1n,
    ])
  })

  it('needs one statement for each range', async () => {
    const db = new Recorder()
    const ids = [1n, 2n ** 63n, 2n]
    await storeNames(
      db,
      ids.map((recordId) => ({ recordType: 1, recordId, name: 'n' })),
      2,
    )
    expect(db.sent.map(({ args }) => args.filter((_, i) => i % 3 === 1))).toEqual([[1n, 2n], [2n ** 63n]])
  })

  it('needs no statement for known names', async () => {
    const db = new Recorder()
    const stored = new StoredNames()
    for (const known of [counter(1), counter(2)]) stored.add(known, 0)
    await storeNames(db, stored.toStore([counter(2), counter(1)], 0), 1)
    await storeNames(db, stored.toStore([], 0), 1)
    expect(db.sent).toEqual([])
    await storeNames(db, stored.toStore([counter(1), counter(4)], 0), 1)
    expect(db.sent[0]?.args).toEqual([1, 4n, '/page/4'])
  })

  it('remembers names that could not be stored until they are, up to a bound', () => {
    const stored = new StoredNames()
    const later = 10_000
    stored.retryLater([counter(1), counter(2)], 0)
    expect(stored.toStore([counter(2), counter(3)], later).map(counterId)).toEqual(['1/1', '1/2', '1/3'])
    for (const known of [counter(1), counter(2)]) stored.add(known, 0)
    expect(stored.toStore([counter(3)], later).map(counterId)).toEqual(['1/3'])
    stored.retryLater(
      Array.from({ length: 100_000 }, (_, i) => counter(10 + i)),
      0,
    )
    let owed = 0
    for (let missing = stored.toStore([], later); missing.length > 0; missing = stored.toStore([], later)) {
      // A part of them with each statement.
      expect(missing.length).toBeLessThanOrEqual(500)
      owed += missing.length
      for (const known of missing) stored.add(known, 0)
    }
    expect(owed).toBe(10_000)
  })

  it('waits for two seconds after a failure, so that it does not delay increments', () => {
    const stored = new StoredNames()
    const failedAt = 1_000_000
    stored.retryLater([counter(1)], failedAt)
    expect(stored.toStore([counter(2)], failedAt)).toEqual([])
    expect(stored.toStore([counter(2), counter(3)], failedAt + 1_999)).toEqual([])
    expect(stored.toStore([], failedAt + 2_000).map(counterId)).toEqual(['1/1', '1/2', '1/3'])
    stored.retryLater([counter(1)], failedAt)
    // The clock was set back.
    expect(stored.toStore([], failedAt - 3_600_000).map(counterId)).toEqual(['1/1', '1/2', '1/3'])
  })
})
