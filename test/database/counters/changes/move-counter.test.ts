import { beforeEach, describe, expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/changes/import-counts.ts'
import { MAX_ROWS, type MoveRequest } from '../../../../src/counters/changes/move-counter.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { Overtaken } from '../../../../src/counters/ledger/totals.ts'
import { readCounters } from '../../../../src/counters/read/read-counters.ts'
import { searchCounters } from '../../../../src/counters/read/search.ts'
import { moveRollUpPage, readRollUpPage } from '../../../../src/counters/rollup/roll-up-page.ts'
import { type Database, openDatabase } from '../../../../src/database/database.ts'
import { DatabaseFailure } from '../../../../src/database/errors.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { interleaved, statementAt } from '../../../harness/interleaved-database.ts'
import { countOn, countsOf, expectExact, move, rollUpAt, rowsOf, setCounter } from '../../../harness/moves.ts'

const DAY_MS = 86_400_000
// All in one range, but for the last one, which is in another if there are several.
const [A, B, C, FAR] = [1n, 5n, 9n, 2n ** 64n - 1n].map(
  (recordId): CounterAddress => ({ recordType: 1, recordId, name: `/${recordId}` }),
) as [CounterAddress, CounterAddress, CounterAddress, CounterAddress]

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
const options = () => ({ id: random63(), at: new Date() })
/** All rows of the history and the adjustments of a counter. */
const historyOf = async ({ recordType, recordId }: CounterAddress) => {
  const where = `WHERE record_type = ${recordType} AND record_id = ${recordId}`
  const { rows } = await db.execute(
    `SELECT 0 AS period, CAST(period_start AS CHAR) AS at, CAST(count AS CHAR) AS count FROM counter_history ${where}
     UNION ALL SELECT period, CAST(period_start AS CHAR), CAST(count AS CHAR) FROM counter_periods ${where}
     UNION ALL SELECT kind + 10, CAST(adjusted_at AS CHAR), CAST(count AS CHAR) FROM counter_adjustments ${where}`,
  )
  return rows.map(({ period, at, count }) => `${period} ${at} ${count}`).sort()
}

/** Gives a counter everything that a counter can have. Its count is 1,237. */
async function fill(counter: CounterAddress): Promise<void> {
  await ensureNames(db, [counter])
  for (const day of [3, 2, 1]) {
    await countOn(db, counter, BigInt(day))
    await rollUpAt(db, daysAgo(day))
  }
  const rows = [daysAgo(400), null].map((day) => ({ counter, count: 50n, day }))
  await importCounts(db, rows, options())
  await setCounter(db, counter, { count: 1_230n, ...options() })
  await countOn(db, counter, 3n)
  await rollUpAt(db)
  await countOn(db, counter, 9n)
  await countOn(db, counter, -5n)
}

describe('Deleting a counter', () => {
  it('leaves no row of it, and nothing of it in the history of its type', async () => {
    await fill(A)
    await fill(B)
    const ofB = [await historyOf(B), await rowsOf(db, B)]
    expect(await move(db, A)).toBe('done')
    expect(await rowsOf(db, A)).toEqual({})
    expect([await historyOf(B), await rowsOf(db, B)]).toEqual(ofB)
    expect(await countsOf(db, [A, B])).toEqual([0n, 1_237n])
    await expectExact(db)
    await expect(move(db, A)).rejects.toMatchObject({ reason: 'no_such_counter' })
    // The type has what its other counter has, hours and imports apart.
    await move(db, B)
    const left =
      'SELECT COUNT(*) FROM (SELECT period_start FROM type_history GROUP BY period, period_start, range_lane & 64 HAVING SUM(count) <> 0) AS s'
    expect(await db.number(left)).toBe(0n)
  })

  it('that was never rolled up, or has nothing but a name, leaves no row', async () => {
    await countOn(db, A, 5n)
    await ensureNames(db, [B])
    expect([await move(db, A), await move(db, B)]).toEqual(['done', 'done'])
    expect([await rowsOf(db, A), await rowsOf(db, B)]).toEqual([{}, {}])
    await expectExact(db)
  })

  it('does not count a hit again that was counted before and arrives once more', async () => {
    const batch = random63()
    await countOn(db, A, 5n, batch)
    await move(db, A)
    await countOn(db, A, 5n, batch)
    expect(await countsOf(db, [A])).toEqual([0n])
  })

  it('makes a page of the roll-up that was read before it fail, also if the counter is counted again', async () => {
    await countOn(db, A, 5n)
    const page = await readRollUpPage(db, { range: 0, after: null }, 100)
    const movePage = () => moveRollUpPage(db, page.counters, { at: new Date(), rangeLane: 0n })
    expect(await move(db, A)).toBe('done')
    await expect(movePage()).rejects.toThrow(Overtaken)
    await countOn(db, A, 1n)
    await rollUpAt(db)
    await expect(movePage()).rejects.toThrow(Overtaken)
    expect(await countsOf(db, [A])).toEqual([1n])
    await expectExact(db)
  })
})

describe('Renaming and merging', () => {
  it('move count, history and adjustments to a new key, and leave the history of the type alone', async () => {
    await fill(A)
    const before = await historyOf(A)
    const { rolledUpAt } = (await readCounters(db, [A]))[0]!
    const ofType = () =>
      db.execute('SELECT record_type, period, period_start, range_lane, count FROM type_history ORDER BY 1, 2, 3, 4')
    const typeBefore = await ofType()
    expect(await move(db, A, { kind: 'rename', target: B })).toBe('done')
    expect(rolledUpAt).not.toBe(null)
    expect((await readCounters(db, [B]))[0]).toMatchObject({ rolledUpAt })
    expect(await historyOf(B)).toEqual(before)
    expect(await ofType()).toEqual(typeBefore)
    expect(await countsOf(db, [A, B])).toEqual([0n, 1_237n])
    expect(await rowsOf(db, A)).toEqual({})
    await expectExact(db)
    await rollUpAt(db)
    expect(await countsOf(db, [A, B])).toEqual([0n, 1_237n])
    await expectExact(db)
  })

  it('add up what two counters have', async () => {
    await fill(A)
    await fill(B)
    expect(await move(db, A, { kind: 'merge', target: B })).toBe('done')
    expect(await countsOf(db, [A, B])).toEqual([0n, 2_474n])
    await expectExact(db)
    await rollUpAt(db)
    expect(await countsOf(db, [A, B])).toEqual([0n, 2_474n])
    await expectExact(db)
  })

  it('work for counters that were never rolled up, and for a target that was deleted', async () => {
    await countOn(db, A, 5n)
    await countOn(db, C, 7n)
    await move(db, A, { kind: 'rename', target: B })
    await move(db, C, { kind: 'merge', target: B })
    expect(await countsOf(db, [A, B, C])).toEqual([0n, 12n, 0n])
    await move(db, B)
    await countOn(db, A, 2n)
    await move(db, A, { kind: 'rename', target: B })
    await rollUpAt(db)
    expect(await countsOf(db, [A, B])).toEqual([0n, 2n])
    expect(await rowsOf(db, B)).toMatchObject({ counters: 1 })
    await expectExact(db)
  })

  it('are refused if the target would leave 64 bits', async () => {
    await countOn(db, A, 2n ** 62n)
    await countOn(db, B, 2n ** 62n)
    await rollUpAt(db)
    await expect(move(db, A, { kind: 'merge', target: B })).rejects.toMatchObject({ kind: 'range' })
    expect(await countsOf(db, [A, B])).toEqual([2n ** 62n, 2n ** 62n])
  })

  it('between two ranges are refused', async () => {
    await countOn(db, A, 1n)
    const ranges = Math.max(2, db.ranges)
    const several = openDatabase({ url: db.url, ranges, deadlineMs: 30_000 })
    for (const kind of ['rename', 'merge'] as const) {
      await expect(move(several, A, { kind, target: FAR })).rejects.toMatchObject({ reason: 'different_ranges' })
    }
    expect(await countsOf(db, [A])).toEqual([1n])
  })

  it('take at most 20 statements', async () => {
    await fill(A)
    const sent = await db.recording(() => move(db, A, { kind: 'rename', target: B, key: random63() }))
    expect(sent.length).toBeLessThanOrEqual(20)
  })
})

describe('Counters of the same key in further types', () => {
  const ofType = (recordType: number, counter: CounterAddress): CounterAddress => ({ ...counter, recordType })
  const [A3, A7, B3] = [ofType(3, A), ofType(7, A), ofType(3, B)]

  it('are deleted with it, and leave no row', async () => {
    for (const counter of [A, A3, A7, B3]) await fill(counter)
    expect(await move(db, A, { also: [7, 3] })).toBe('done')
    for (const counter of [A, A3, A7]) expect(await rowsOf(db, counter)).toEqual({})
    expect(await countsOf(db, [A, A3, A7, B3])).toEqual([0n, 0n, 0n, 1_237n])
    await expectExact(db)
  })

  it('are renamed with it, with their history, and the other types are left alone', async () => {
    for (const counter of [A, A3, A7]) await fill(counter)
    const before = [await historyOf(A), await historyOf(A3), await historyOf(A7)]
    expect(await move(db, A, { kind: 'rename', target: B, also: [3] })).toBe('done')
    expect([await historyOf(B), await historyOf(B3), await historyOf(A7)]).toEqual(before)
    expect(await countsOf(db, [A, A3, A7, B, B3])).toEqual([0n, 0n, 1_237n, 1_237n, 1_237n])
    expect([await rowsOf(db, A), await rowsOf(db, A3)]).toEqual([{}, {}])
    expect(await rowsOf(db, B3)).toMatchObject({ counters: 1 })
    await expectExact(db)
    await rollUpAt(db)
    expect(await countsOf(db, [B, B3])).toEqual([1_237n, 1_237n])
    await expectExact(db)
  })

  it('may be missing under either key: what there is moves, or is added', async () => {
    await countOn(db, A, 5n)
    await countOn(db, A3, 2n)
    await rollUpAt(db)
    await countOn(db, A3, 1n)
    await countOn(db, B, 10n)
    // The target has no counter in type 3, and the source none in type 7.
    await move(db, A, { kind: 'merge', target: B, also: [3, 7] })
    expect(await countsOf(db, [A, A3, B, B3])).toEqual([0n, 0n, 15n, 3n])
    // In type 3 alone, the new key has a counter.
    await countOn(db, C, 1n)
    await countOn(db, ofType(3, C), 1n)
    await move(db, B)
    await move(db, C, { kind: 'rename', target: B, also: [3] })
    expect(await countsOf(db, [B, B3, C, ofType(3, C)])).toEqual([1n, 4n, 0n, 0n])
    await expectExact(db)
  })

  it('move in the same transaction: an interrupted one has moved nothing, a repeated one moves no later visit', async () => {
    const request = { kind: 'rename', target: B, also: [3], key: random63() } as const
    await countOn(db, A, 5n)
    await countOn(db, A3, 2n)
    await rollUpAt(db)
    const cut = db.open({ deadlineMs: 30_000, fetch: cutFetch({ after: 8, delivered: false, rollback: true }) })
    await expect(move(cut, A, request)).rejects.toThrow(DatabaseFailure)
    expect(await countsOf(db, [A, A3, B, B3])).toEqual([5n, 2n, 0n, 0n])
    await db.behave({ faults: [{ action: 'cut-answer', match: '^COMMIT', times: 1 }] })
    await move(db, A, request)
    await db.behave()
    await countOn(db, A3, 1n)
    expect(await move(db, A, request)).toBe('repeated')
    expect(await countsOf(db, [A, A3, B, B3])).toEqual([0n, 1n, 5n, 2n])
    await expect(move(db, A, { ...request, also: [] })).rejects.toThrow('used before, with other contents')
    await expectExact(db)
  })

  it.each(['delete', 'rename'] as const)('lose nothing in a %s that a roll-up overtakes', async (kind) => {
    const target = kind === 'rename' ? B : null
    for (const counter of [A, A3]) await countOn(db, counter, 5n)
    await rollUpAt(db)
    for (const counter of [A, A3]) await countOn(db, counter, 2n)
    const overtaken = interleaved(db, /FOR UPDATE NOWAIT/, () => rollUpAt(db))
    await move(overtaken, A, { kind, target, also: [3] })
    const moved = kind === 'rename' ? 7n : 0n
    expect(await countsOf(db, [A, A3, B, B3])).toEqual([0n, 0n, moved, moved])
    await expectExact(db)
  })

  it('take two statements more for each type at most', async () => {
    for (const counter of [A, A3, A7, B, B3]) await fill(counter)
    const merge = { kind: 'merge', target: B, also: [3, 7], key: random63() } as const
    const merging = await db.recording(() => move(db, A, merge))
    const deleting = await db.recording(() => move(db, B, { also: [3, 7], key: random63() }))
    expect(merging.length).toBeLessThanOrEqual(24)
    expect(deleting.length).toBeLessThanOrEqual(24)
  })
})

describe('A counter that was never rolled up', () => {
  it('is not taken twice by two changes at the same time', async () => {
    await countOn(db, A, 5n)
    const deleting = interleaved(db, /^SELECT record_type, record_id, 1/, () => move(db, A))
    // The other one has deleted it. What is left is an empty counter at most.
    await move(deleting, A).catch((error: unknown) => expect(error).toMatchObject({ reason: 'no_such_counter' }))
    expect(await countsOf(db, [A])).toEqual([0n])
    await countOn(db, A, 7n)
    const merging = interleaved(db, /^SELECT record_type, record_id, 1/, () =>
      move(db, A, { kind: 'rename', target: B }),
    )
    await move(merging, A, { kind: 'rename', target: C }).catch(() => {})
    expect(await countsOf(db, [A, B, C])).toEqual([0n, 7n, 0n])
    await rollUpAt(db)
    await expectExact(db)
  })
})

describe('A new counter, once a roll-up has read its page,', () => {
  const listed = async () => {
    const { counters } = await searchCounters(db, { recordType: 1 }, { prefix: '', after: null, limit: 9 })
    return counters.map(({ key, count }) => [key, count])
  }
  const rollUpBeside = (work: () => Promise<unknown>) =>
    rollUpAt(interleaved(db, /^INSERT (IGNORE )?INTO counter(s|_totals) /, work))

  it('is not listed again if it is deleted', async () => {
    await countOn(db, A, 5n)
    expect(await rollUpBeside(() => move(db, A))).toMatchObject({ outcome: 'complete', moved: 0n })
    expect(await listed()).toEqual([])
    await expectExact(db)
  })

  it('can be renamed, and renamed back', async () => {
    await countOn(db, A, 5n)
    expect(await rollUpBeside(() => move(db, A, { kind: 'rename', target: B }))).toMatchObject({ outcome: 'complete' })
    expect(await listed()).toEqual([[B.name, 5n]])
    expect(await move(db, B, { kind: 'rename', target: A })).toBe('done')
    expect(await listed()).toEqual([[A.name, 5n]])
    await rollUpAt(db)
    expect(await countsOf(db, [A, B])).toEqual([5n, 0n])
    await expectExact(db)
  })
})

describe('A counter with very much', () => {
  it('is refused', async () => {
    const rows = Array.from(
      { length: MAX_ROWS + 1 },
      (_, i) => `(1, ${A.recordId}, '1990-01-01' + INTERVAL ${i} HOUR, 1)`,
    )
    await db.insert('counter_history', rows)
    await countOn(db, A, 1n)
    for (const request of [{}, { kind: 'rename', target: B }] as const) {
      await expect(move(db, A, request)).rejects.toMatchObject({ reason: 'history_too_large' })
    }
    expect(await countsOf(db, [A, B])).toEqual([1n, 0n])
  })
})

describe('An idempotency key', () => {
  it.each(['delete', 'rename', 'merge'] as const)(
    'makes a %s happen once, no matter what was counted since',
    async (kind) => {
      const request: Partial<MoveRequest> = { kind, target: kind === 'delete' ? null : B, key: random63() }
      await countOn(db, A, 5n)
      if (kind === 'merge') await countOn(db, B, 1n)
      expect(await move(db, A, request)).toBe('done')
      await countOn(db, A, 2n)
      await rollUpAt(db)
      expect(await move(db, A, request)).toBe('repeated')
      expect((await countsOf(db, [A]))[0]).toBe(2n)
      await expect(move(db, A, { ...request, below: 100n })).rejects.toThrow('used before, with other contents')
      // Another counter may have the same one.
      await countOn(db, C, 3n)
      if (kind !== 'rename') expect(await move(db, C, request)).toBe('done')
    },
  )

  it.each(['REPEATABLE READ', 'READ COMMITTED'] as const)(
    'tells of a deletion whose COMMIT takes effect beside its retry that it was done, never that there was no counter (%s)',
    async (isolation) => {
      await db.behave({ isolation })
      for (let place = 0; place < 8; place++) {
        const request = { key: random63() }
        const counter = { recordType: 1, recordId: BigInt(place), name: `/${place}` }
        await countOn(db, counter, 5n)
        const [changed, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const slow: Database = {
          ...db,
          transaction: (work) =>
            db.transaction(async (transaction) => {
              const value = await work(transaction)
              changed.resolve()
              await committing.promise
              return value
            }),
        }
        const first = move(slow, counter, request)
        await changed.promise
        const retry = interleaved(db, statementAt(place), async () => {
          committing.resolve()
          await first
        })
        expect([place, await move(retry, counter, request)]).toEqual([place, 'repeated'])
      }
    },
  )

  it('of a request is known even if another key finished the same deletion, and takes no later hit', async () => {
    const [one, two] = [random63(), random63()]
    await countOn(db, A, 5n)
    // Interrupted before its COMMIT.
    const cut = db.open({ deadlineMs: 30_000, fetch: cutFetch({ after: 5, delivered: false, rollback: true }) })
    await expect(move(cut, A, { key: one })).rejects.toThrow(DatabaseFailure)
    expect(await move(db, A, { key: two })).toBe('done')
    await countOn(db, A, 1n)
    expect(await move(db, A, { key: two })).toBe('repeated')
    expect(await countsOf(db, [A])).toEqual([1n])
  })
})

describe('Without a key', () => {
  it('a request whose COMMIT was of unknown outcome says so, and does not begin again', async () => {
    await countOn(db, A, 5n)
    await db.behave({ faults: [{ action: 'cut-answer', match: '^COMMIT', times: 1 }] })
    await expect(move(db, A)).rejects.toMatchObject({ applied: 'unknown' })
    await db.behave()
    await countOn(db, A, 1n)
    expect(await countsOf(db, [A])).toEqual([1n])
  })
})
