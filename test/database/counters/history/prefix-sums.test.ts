import { beforeEach, describe, expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/changes/import-counts.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { type HistoryUnit, historyRange } from '../../../../src/counters/history/history-range.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import { addressOfKey } from '../../../../src/counters/keys/key-address.ts'
import { checkKeys, ROWS_OF_KEY, TooManyKeys } from '../../../../src/counters/keys/prefix.ts'
import { rangeOf } from '../../../../src/counters/ranges.ts'
import { countIn, readCounters } from '../../../../src/counters/read/read-counters.ts'
import { MAX_PENDING_OF_TYPE, readSum } from '../../../../src/counters/read/read-sum.ts'
import { Reads } from '../../../../src/counters/read/reads.ts'
import { beside } from '../../../harness/beside.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { counterHistory, sumHistory } from '../../../harness/histories.ts'
import { TestIsolate } from '../../../harness/isolate.ts'
import { countersInRange } from '../../../harness/keys-of-ranges.ts'
import { importAll, move, rollUpAt, setCounter } from '../../../harness/moves.ts'
import { stopClock } from '../../../harness/stopped-clock.ts'

const TYPE = { recordType: 1 } as const
const PREFIX = 'app-'
const DAY = new Date('2026-11-02T12:00:00Z')
const NOW = new Date('2026-11-20T10:30:00Z')

let db: TestDatabase
let counters: CounterAddress[]
const addressOf = (key: string) => addressOfKey(TYPE, key)
const addresses = (keys: readonly string[]) => Promise.all(keys.map(addressOf))
const count = (some: readonly CounterAddress[], by: bigint) =>
  new TestIsolate(db).count(some.map((counter) => ({ counter, by })))
const total = async (prefix: string | null) => {
  const asked = { withTotal: true, history: null, mostPending: MAX_PENDING_OF_TYPE }
  return readSum(db, { recordType: 1, name: prefix ?? '' }, asked, db.ranges)
}
const exactTotal = async (prefix: string | null) => {
  const { total: rolled, pending } = await total(prefix)
  return rolled + pending!
}
/** The sum of counters, read one by one. */
const countedIn = async (some: readonly CounterAddress[]) =>
  (await readCounters(db, some)).reduce((sum, reading) => sum + countIn(reading), 0n)
const options = () => ({ id: random63(), at: NOW })
/** A counter whose key begins with a text, in the same range as another one: only there can that one be moved. */
const inRangeOf = async ({ recordId }: CounterAddress, text: string): Promise<CounterAddress> => {
  const own = rangeOf(recordId, db.ranges)
  return (await countersInRange(text, 1, db.ranges, (range) => range === own))[0]!
}

beforeEach(async () => {
  db = await freshDatabase()
  counters = await addresses(['app-1', 'app-2', 'app-3', 'App-1', 'ap', 'app', 'aq', 'app-\u{10ffff}', 'zoo'])
})
const withPrefix = () => counters.filter(({ name }) => name.startsWith(PREFIX))

describe('The sum of a prefix', () => {
  it('is that of its counters, pending or rolled up, set, imported, deleted, renamed and merged', async () => {
    await count(counters, 5n)
    expect([await exactTotal(PREFIX), await exactTotal(null)]).toEqual([20n, 45n])
    await rollUpAt(db, NOW)
    await count(counters, 3n)
    expect(await total(PREFIX)).toMatchObject({ total: 20n, pending: 12n })
    const [one, two, three] = counters as [CounterAddress, CounterAddress, CounterAddress]
    await setCounter(db, one, { count: 50n, ...options() })
    const rows = [DAY, null].map((day) => ({ counter: two, count: 7n, day }))
    await importCounts(db, rows, options())
    expect(await exactTotal(PREFIX)).toBe(await countedIn(withPrefix()))
    await move(db, three)
    const moved = await inRangeOf(one, 'app-moved')
    await move(db, one, { kind: 'rename', target: moved })
    const merged = await inRangeOf(two, 'zoo')
    await count([merged], 1n)
    await move(db, two, { kind: 'merge', target: merged })
    expect(await exactTotal(PREFIX)).toBe(await countedIn([...withPrefix(), moved]))
    expect(await exactTotal('zoo')).toBe(await countedIn([counters.at(-1)!, merged]))
    await rollUpAt(db, NOW)
    expect(await total(PREFIX)).toMatchObject({ total: await countedIn([...withPrefix(), moved]), pending: 0n })
    expect(await exactTotal('nothing')).toBe(0n)
  })

  it('is right at every instant beside writers and roll-ups', async () => {
    let [begun, counted] = [0n, 0n]
    const write = async () => {
      const isolate = new TestIsolate(db)
      for (let i = 0; i < 60; i++) {
        begun += 4n
        await isolate.count(counters.map((counter) => ({ counter, by: 1n })))
        counted += 4n
      }
      await isolate.settle()
    }
    const read = async () => {
      const least = counted
      const sum = await exactTotal(PREFIX)
      if (sum < least || sum > begun) expect.fail(`the sum is ${sum}, not ${least} to ${begun}`)
    }
    await beside(Promise.all([write(), write(), write()]), read, read, () => rollUpAt(db))
    expect(await exactTotal(PREFIX)).toBe(720n)
  })

  it('in a recent period is what was counted in it', async () => {
    stopClock()
    await count(counters, 2n)
    await rollUpAt(db, new Date(Date.now() - 3 * 86_400_000))
    await count(counters, 5n)
    await rollUpAt(db, new Date())
    await count(counters, 1n)
    const reads = new Reads([db], db, 10_000)
    const recent = async (period: 'day' | 'week' | 'exact', name = PREFIX) => {
      const options = { hasToken: true, keptMs: 0, waitUntil: () => {} }
      return countIn((await reads.sum({ recordType: 1, name }, period, options)).value)
    }
    expect([await recent('day'), await recent('week')]).toEqual([24n, 32n])
    expect([await recent('day', ''), await recent('week', ''), await recent('exact', '')]).toEqual([54n, 72n, 72n])
  })

  it('is as of the last roll-up while very much is pending', async () => {
    await count(counters, 2n)
    await rollUpAt(db, NOW)
    const { recordId } = counters[0]!
    const rows = Array.from({ length: MAX_PENDING_OF_TYPE + 1 }, (_, i) => `(1, ${recordId}, ${i + 1}, 1, 1, 1)`)
    await db.insert('slotted_counters', rows)
    expect(await total(PREFIX)).toMatchObject({ total: 8n, pending: null })
    expect(await total(null)).toMatchObject({ total: 18n, pending: null })
  })

  it('is refused for more than 10,000 keys', async () => {
    const rows = Array.from({ length: 10_001 }, (_, i) => `(1, ${i}, 'many-${i}')`)
    await db.insert('names', rows)
    const check = () => checkKeys(db, { recordType: 1, name: 'many-' }, { rows: ROWS_OF_KEY })
    await expect(check()).rejects.toThrow(TooManyKeys)
    await db.arrange('DELETE FROM counters WHERE record_id = 7')
    await check()
    expect(await exactTotal('many-')).toBe(0n)
  })
})

describe('The history of a prefix', () => {
  it('is the sum of those of its counters, in any unit and time zone', async () => {
    await count(counters, 5n)
    await rollUpAt(db, new Date('2026-10-31T23:40:00Z'))
    await count(counters.slice(0, 2), 7n)
    await rollUpAt(db, new Date('2026-11-01T00:10:00Z'))
    const rows = counters.map((counter, i) => ({ counter, count: BigInt(i), day: DAY }))
    await importAll(db, rows, NOW)
    for (const by of ['hour', 'day', 'week', 'month'] as HistoryUnit[]) {
      for (const timeZone of ['UTC', 'America/New_York', 'Asia/Kathmandu']) {
        const range = historyRange({ by, timeZone, from: '2026-10-30', to: '2026-11-05' }, NOW)
        const histories = await Promise.all(
          withPrefix().map((counter) => counterHistory(db, counter, range, new Date('2027-01-01'))),
        )
        const sums = range.edges.slice(1).map((_, i) => histories.reduce((sum, { counts }) => sum + counts[i]!, 0n))
        expect([by, timeZone, await sumHistory(db, { recordType: 1, name: PREFIX }, range)]).toEqual([
          by,
          timeZone,
          sums,
        ])
        expect(sums.reduce((all, one) => all + one)).toBeGreaterThan(20n)
      }
    }
  })
})
