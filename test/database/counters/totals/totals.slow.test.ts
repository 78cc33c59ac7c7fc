import { beforeEach, expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/adjust/import-counts.ts'
import { setCounter } from '../../../../src/counters/adjust/set-counter.ts'
import { MAX_PENDING, readTotal, totalOf } from '../../../../src/counters/history/read-total.ts'
import { addressOfKey, type CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { KeptSums } from '../../../../src/counters/ledger/kept-sums.ts'
import { random63 } from '../../../../src/counters/random-id.ts'
import { COUNTERS_PER_STEP } from '../../../../src/counters/rollup/build-prefixes.ts'
import { leastRollUpStatements, rollUp } from '../../../../src/counters/rollup/roll-up.ts'
import { transfer } from '../../../../src/counters/transfer/transfer.ts'
import { openDatabase } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { TestIsolate } from '../../../harness/isolate.ts'
import { exactTotal, expectSums } from '../../../harness/totals.ts'
import { sendTransfer } from '../../../harness/transfers.ts'

const APP = 'app-'
const DAY = new Date('2026-11-02T12:00:00Z')
const PREFIXES = [{ recordType: 1, text: APP }]

let db: TestDatabase
let sums: KeptSums
beforeEach(async () => {
  db = await freshDatabase()
  sums = new KeptSums(PREFIXES)
})

const addressOf = (key: string) => addressOfKey({ recordType: 1, key: 'string' }, key)
const addressesOf = (begin: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => addressOf(`${begin}${i}`)))

async function count(counters: readonly CounterAddress[], by = 1n, on: TestDatabase = db): Promise<void> {
  const isolate = new TestIsolate(on)
  for (let i = 0; i < counters.length; i += 500) {
    await isolate.count(counters.slice(i, i + 500).map((counter) => ({ counter, by })))
  }
  await isolate.settle()
}

function run(using = sums, more = {}) {
  const options = { pageSlots: 500, maxStatements: 5_000, maxSeconds: 100, at: new Date(), ...more }
  return rollUp({ db, totals: null, sums: using }, options)
}

async function change(using: KeptSums): Promise<void> {
  const ledger = { db, totals: null, sums: using }
  const options = () => ({ id: random63(), at: new Date() })
  const [one, two, three, other] = await Promise.all(['app-1', 'app-2', 'app-3', 'other'].map(addressOf))
  await setCounter(ledger, one!, { count: 50n, ...options() })
  const rows = [
    { counter: two!, count: 7n, day: DAY },
    { counter: other!, count: 9n, day: DAY },
    { counter: two!, count: 11n, day: null },
  ]
  await importCounts(ledger, rows, options())
  const request = (kind: 'delete' | 'rename' | 'merge', target: CounterAddress | null) => ({
    kind,
    target,
    below: null,
    keyed: false,
    ...options(),
  })
  await count([three!], 4n)
  await transfer(ledger, three!, request('delete', null))
  await transfer(ledger, two!, request('merge', other!))
  await transfer(ledger, one!, request('rename', await addressOf(`renamed ${random63()}`)))
  await count([two!], 3n)
}

it('A total is the sum of the counters after settings, imports, deletions, renames and merges', async () => {
  await run()
  await count([...(await addressesOf(APP, 5)), ...(await addressesOf('oth', 3))], 2n)
  expect([await exactTotal(db), await exactTotal(db, APP)]).toEqual([16n, 10n])
  await run()
  expect([await exactTotal(db), await exactTotal(db, APP)]).toEqual([16n, 10n])
  await change(sums)
  await expectSums(db, null)
  await expectSums(db, APP)
  await run()
  await expectSums(db, null)
  await expectSums(db, APP)
})

it('An isolate that knows nothing of a prefix adds to its total nevertheless', async () => {
  await run()
  const older = new KeptSums()
  await count(await addressesOf(APP, 5), 2n)
  await run(older)
  expect(await exactTotal(db, APP)).toBe(10n)
  await change(older)
  await change(new KeptSums())
  await run(new KeptSums())
  await expectSums(db, APP)
})

it('A prefix that is declared later includes what was counted before, in steps within the budget', async () => {
  const counters = await addressesOf(APP, 3 * COUNTERS_PER_STEP)
  const none = new KeptSums()
  await count(counters, 2n)
  await run(none)
  await change(none)
  expect(await exactTotal(db, APP)).toBe(null)
  const least = leastRollUpStatements(db.ranges, sums)
  let runs = 0
  while ((await exactTotal(db, APP)) === null) {
    await count(counters.slice(0, 250), 1n)
    const { statements } = await run(runs % 2 === 0 ? sums : new KeptSums(PREFIXES), { maxStatements: least })
    expect(statements).toBeLessThanOrEqual(least)
    expect(++runs).toBeLessThan(50)
  }
  expect(runs).toBeGreaterThan(3)
  await expectSums(db, APP)
  await run()
  await expectSums(db, APP)
  await expectSums(db, null)
})

it('A prefix stays right when the number of ranges is raised, before and after it is complete', async () => {
  const counters = await addressesOf(APP, 3 * COUNTERS_PER_STEP)
  await count(counters, 2n)
  await run(new KeptSums())
  await run(sums, { maxStatements: leastRollUpStatements(db.ranges, sums) })
  expect(await exactTotal(db, APP)).toBe(null)
  for (const times of [4, 8]) {
    const finer = Object.assign(
      Object.create(db) as TestDatabase,
      openDatabase({ url: db.url, deadlineMs: 60_000, ranges: db.ranges * times }),
    )
    await count(counters.slice(100), 1n, finer)
    const ledger = { db: finer, totals: null, sums: new KeptSums() }
    await setCounter(ledger, counters[7]!, { count: 100n, id: random63(), at: new Date() })
    await rollUp(
      { ...ledger, sums: new KeptSums(PREFIXES) },
      { pageSlots: 500, maxStatements: 5_000, maxSeconds: 100, at: new Date() },
    )
    await expectSums(finer, APP)
    await count(counters.slice(50), 1n, finer)
    await rollUp(ledger, { pageSlots: 500, maxStatements: 5_000, maxSeconds: 100, at: new Date() })
    await expectSums(finer, APP)
  }
})

it('A prefix whose rows were deleted is built anew', async () => {
  await count(await addressesOf(APP, 5), 2n)
  await run()
  await db.arrange("DELETE FROM prefix_builds WHERE prefix = 'app-'")
  await count(await addressesOf(APP, 5), 2n)
  // It does not know of the deletion, and still adds.
  await run(sums)
  expect(await exactTotal(db, APP)).toBe(null)
  await run(new KeptSums(PREFIXES))
  await expectSums(db, APP)
})

it('A prefix whose rows were deleted is built anew in every range, whichever comes first', async () => {
  const counters = await addressesOf(APP, 20)
  for (let first = 0; first < 8; first++) {
    const on = Object.assign(
      Object.create(db),
      openDatabase({ url: db.url, deadlineMs: 60_000, ranges: 4 }),
    ) as TestDatabase
    const roll = (using: KeptSums) =>
      rollUp(
        { db: on, totals: null, sums: using },
        { pageSlots: 500, maxStatements: 5_000, maxSeconds: 100, at: new Date() },
      )
    await count(counters, 1n, on)
    const sums = new KeptSums(PREFIXES)
    const rows = counters.map((counter) => ({ counter, count: 3n, day: DAY }))
    await roll(sums)
    await importCounts({ db: on, totals: null, sums }, rows, { id: random63(), at: new Date() })
    await expectSums(on, APP)
    await db.arrange("DELETE FROM prefix_builds WHERE prefix = 'app-'")
  }
})

it.each(['set', 'import'] as const)(
  'A counter that is deleted during a %s has its name again afterwards',
  async (kind) => {
    const [counter] = await addressesOf(APP, 1)
    await count([counter!], 2n)
    await run()
    let deleted = false
    const racing: TestDatabase = {
      ...db,
      async execute(sql, args) {
        const result = await db.execute(sql, args)
        if (sql.includes('AS gone FROM counter_names') && !deleted) {
          deleted = true
          await sendTransfer(db, counter!)
        }
        return result
      },
    }
    const [ledger, options] = [
      { db: racing, totals: null, sums },
      { id: random63(), at: new Date() },
    ]
    if (kind === 'set') await setCounter(ledger, counter!, { count: 5n, ...options })
    else await importCounts(ledger, [{ counter: counter!, count: 5n, day: DAY }], options)
    expect(deleted).toBe(true)
    expect(await exactTotal(db, APP)).toBe(5n)
    await expectSums(db, APP)
  },
)

it('A total with very much pending is as of the last roll-up, and says so', async () => {
  const counters = await addressesOf(APP, 5)
  await count(counters, 2n)
  await run()
  const { recordId } = counters[0]!
  const rows = Array.from({ length: MAX_PENDING + 1 }, (_, i) => `(1, ${recordId}, ${i + 1}, 1, 1, 1)`)
  await db.arrange(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES ${rows.join()}`,
  )
  const options = { consistency: 'exact', period: null, ranges: db.ranges } as const
  expect(await readTotal(db, await totalOf(1, null), options)).toMatchObject({ total: 10n, pending: null })
  await run()
  expect(await readTotal(db, await totalOf(1, null), options)).toMatchObject({ total: 10_011n, pending: 0n })
})
