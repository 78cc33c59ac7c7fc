import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { NewKeyBudgets } from '../../../../src/counters/keys/new-key-budgets.ts'
import type { Executor } from '../../../../src/database/database.ts'
import { retrying } from '../../../../src/database/retry-and-breaker.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { GatedDatabase } from '../../../harness/gated-database.ts'

const TYPE = 7
const LIMIT = 100

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(() => {
  vi.useRealTimers()
})

const isolate = (on: Executor = db) => new NewKeyBudgets(Array.from({ length: db.ranges }, () => retrying(on)))
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
/** The budgets of all minutes so far: a test may go on into the next one. */
const budgets = async () =>
  (await db.execute('SELECT taken FROM new_key_budgets ORDER BY minute')).rows.map(({ taken }) => Number(taken))

describe('The budget of new keys', () => {
  it('is never exceeded if answers are lost', async () => {
    const fault = { action: 'cut-answer', times: 1 } as const
    let granted = 0
    for (const match of ['^UPDATE', '^INSERT', '^UPDATE', '^SELECT']) {
      await db.behave({ faults: [{ ...fault, match }] })
      granted += await isolate().take(TYPE, 30, LIMIT)
    }
    await db.behave()
    granted += await isolate().take(TYPE, 30, LIMIT)
    const minutes = await budgets()
    for (const taken of minutes) expect(taken).toBeLessThanOrEqual(LIMIT)
    // What was taken twice is lost. If a minute began meanwhile, perhaps nothing was.
    expect(granted).toBeLessThanOrEqual(minutes.length === 1 ? sum(minutes) - 1 : sum(minutes))
    expect(granted).toBeGreaterThan(0)
  })

  it('grants a part of what is requested if less is left', async () => {
    expect(await isolate().take(TYPE, 4, 10)).toBe(4)
    const [taken] = await budgets()
    const granted = await isolate().take(TYPE, 50, 10)
    const minutes = await budgets()
    expect(granted).toBe(minutes.length === 1 ? 10 - taken! : 10)
  })

  it('belongs to one type', async () => {
    expect(await isolate().take(TYPE, 5, 5)).toBe(5)
    expect(await isolate().take(TYPE + 1, 5, 5)).toBe(5)
  })

  it('costs one statement, and none once it is used up until the minute is over', async () => {
    // The isolate's clock stands still, so that its minute does not end during the test.
    vi.useFakeTimers({ toFake: ['Date'] })
    const counted = new GatedDatabase(db)
    const here = isolate(counted)
    await here.take(TYPE, 5, LIMIT)
    const before = counted.sent.length
    await here.take(TYPE, 5, LIMIT)
    const [, next] = await budgets()
    if (next === undefined) expect(counted.sent.length - before).toBe(1)
    while ((await here.take(TYPE, LIMIT, LIMIT)) > 0);
    const usedUp = counted.sent.length
    for (let i = 0; i < 100; i++) expect(await here.take(TYPE, 1, LIMIT)).toBe(0)
    expect(counted.sent.length).toBe(usedUp)

    // A minute later for the isolate and for the database.
    vi.setSystemTime(Date.now() + 60_000)
    await db.arrange('UPDATE new_key_budgets SET minute = minute - 10 ORDER BY minute')
    expect(await here.take(TYPE, 1, LIMIT)).toBe(1)
  })

  it('is asked for again if the clock is set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const here = isolate()
    while ((await here.take(TYPE, LIMIT, LIMIT)) > 0);
    vi.setSystemTime(Date.now() - 3_600_000)
    await db.arrange('UPDATE new_key_budgets SET minute = minute - 10 ORDER BY minute')
    expect(await here.take(TYPE, 1, LIMIT)).toBe(1)
  })
})
