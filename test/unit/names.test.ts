import { describe, expect, it } from 'vitest'
import { type Counter, counterId } from '../../src/counters/counter.ts'
import { StoredNames, storeNames } from '../../src/counters/names.ts'
import type { Executor } from '../../src/database/database.ts'

const counter = (recordId: number, recordType = 1): Counter => ({
  recordType,
  recordId: BigInt(recordId),
  name: `/page/${recordId}`,
})

/** Takes every statement; what was asked of a real one is tested in test/database. */
class Recorder implements Executor {
  readonly sent: { sql: string; args: readonly unknown[] }[] = []
  failing = false
  async execute(sql: string, args: readonly unknown[] = []) {
    this.sent.push({ sql, args })
    if (this.failing) throw new Error('no database')
    return { rows: [], rowsAffected: 0 }
  }
}

describe('the names that are remembered as stored', () => {
  it('are those that were added', () => {
    const stored = new StoredNames()
    stored.add(counter(1))
    expect(stored.has(counter(1))).toBe(true)
    expect(stored.has(counter(2))).toBe(false)
    expect(stored.has(counter(1, 2))).toBe(false)
  })

  it('stay few, however many there are: the newest', () => {
    const stored = new StoredNames()
    for (let id = 0; id < 1_000_000; id++) stored.add(counter(id))
    const remembered: number[] = []
    for (let id = 0; id < 1_000_000; id++) if (stored.has(counter(id))) remembered.push(id)
    expect(remembered).toEqual(Array.from({ length: 20_000 }, (_, i) => 980_000 + i))
  })
})

describe('storing names', () => {
  it('takes one statement, sorted by primary key, for all that may be missing', async () => {
    const db = new Recorder()
    const counters = [counter(30), counter(2, 2), counter(4), counter(30), counter(1, 2)]
    await storeNames(db, new StoredNames().due(counters, 0))
    expect(db.sent).toEqual([
      {
        sql: 'INSERT IGNORE INTO counter_names (record_type, record_id, name) VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?)',
        args: [1, 4n, '/page/4', 1, 30n, '/page/30', 2, 1n, '/page/1', 2, 2n, '/page/2'],
      },
    ])
  })

  it('sorts record ids as numbers, beyond 2^53 too', async () => {
    const db = new Recorder()
    const ids = [2n ** 64n - 1n, 9n, 2n ** 63n, 10n, 2n ** 53n + 1n, 2n ** 53n]
    await storeNames(
      db,
      ids.map((recordId) => ({ recordType: 1, recordId, name: 'n' })),
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

  it('takes no statement for names that are known and counters that have none', async () => {
    const db = new Recorder()
    const stored = new StoredNames()
    for (const known of [counter(1), counter(2)]) stored.add(known)
    await storeNames(db, stored.due([counter(2), counter(1), { ...counter(3), name: null }], 0))
    await storeNames(db, stored.due([], 0))
    expect(db.sent).toEqual([])
    await storeNames(db, stored.due([counter(1), counter(4)], 0))
    expect(db.sent[0]?.args).toEqual([1, 4n, '/page/4'])
  })

  it('owes those that could not be stored, until they are, and no more of them than it has room for', () => {
    const stored = new StoredNames()
    const later = 10_000
    stored.owe([counter(1), counter(2)], 0)
    expect(stored.due([counter(2), counter(3)], later).map(counterId)).toEqual(['1/1', '1/2', '1/3'])
    for (const known of [counter(1), counter(2)]) stored.add(known)
    expect(stored.due([counter(3)], later).map(counterId)).toEqual(['1/3'])
    stored.owe(
      Array.from({ length: 100_000 }, (_, i) => counter(10 + i)),
      0,
    )
    let owed = 0
    for (let missing = stored.due([], later); missing.length > 0; missing = stored.due([], later)) {
      // Some with each statement, not all at once.
      expect(missing.length).toBeLessThanOrEqual(500)
      owed += missing.length
      for (const known of missing) stored.add(known)
    }
    expect(owed).toBe(10_000)
  })

  it('does not hold up the next counts after it failed: for two seconds names are only owed', () => {
    const stored = new StoredNames()
    const failedAt = 1_000_000
    stored.owe([counter(1)], failedAt)
    expect(stored.due([counter(2)], failedAt)).toEqual([])
    expect(stored.due([counter(2), counter(3)], failedAt + 1_999)).toEqual([])
    expect(stored.due([], failedAt + 2_000).map(counterId)).toEqual(['1/1', '1/2', '1/3'])
    stored.owe([counter(1)], failedAt)
    // The clock was set back.
    expect(stored.due([], failedAt - 3_600_000).map(counterId)).toEqual(['1/1', '1/2', '1/3'])
  })
})
