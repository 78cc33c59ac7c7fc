import { expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/adjust/import-counts.ts'
import { setCounter } from '../../../../src/counters/adjust/set-counter.ts'
import { addressOfKey } from '../../../../src/counters/keys/counter-address.ts'
import { KeptSums } from '../../../../src/counters/ledger/kept-sums.ts'
import { Overtaken } from '../../../../src/counters/ledger/totals.ts'
import { random63 } from '../../../../src/counters/random-id.ts'
import { leastRollUpStatements, rollUp } from '../../../../src/counters/rollup/roll-up.ts'
import { transfer } from '../../../../src/counters/transfer/transfer.ts'
import { TransferRefused } from '../../../../src/counters/transfer/transfer-refused.ts'
import { type Database, openDatabase } from '../../../../src/database/database.ts'
import { DatabaseFailure } from '../../../../src/database/errors.ts'
import { freshDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { TestIsolate } from '../../../harness/isolate.ts'
import { Random } from '../../../harness/random.ts'
import { exactTotal, expectSums } from '../../../harness/totals.ts'
import { finishAll } from '../../../harness/transfers.ts'
import { verifyAll } from '../../../harness/verify-all.ts'

const KEYS = 260
const PREFIX = 'app-'
const OTHER = 'app-1'
const DECLARED = [PREFIX, OTHER].map((text) => ({ recordType: 1, text }))
const COUNTED = 30
const READINGS = 25

const isExpected = (error: unknown) =>
  error instanceof Overtaken || error instanceof TransferRefused || (error instanceof DatabaseFailure && error.retry)
const tolerant = (work: Promise<unknown>) =>
  work.catch((error: unknown) => {
    if (!isExpected(error)) throw error
  })

/** Counters with every second key under the prefix, a day and an adjustment each. */
async function filled(db: Database) {
  const keys = Array.from({ length: KEYS }, (_, i) => (i % 2 === 0 ? `app-${i}` : `site-${i}`))
  const counters = await Promise.all(keys.map((key) => addressOfKey({ recordType: 1, key: 'string' }, key)))
  const rows = counters.flatMap((counter) => [
    { counter, count: 3n, day: new Date('2026-10-01') },
    { counter, count: 2n, day: null },
  ])
  await importCounts({ db, totals: null }, rows, { id: random63(), at: new Date() })
  return counters
}

it.each([1, 2])('Totals are exact beside writers, roll-ups and the building of their prefixes (%i)', async (seed) => {
  const db = await freshDatabase()
  const counters = await filled(db)
  let over = false
  const begun = { all: BigInt(KEYS * 5), prefix: BigInt((KEYS / 2) * 5) }
  const counted = { ...begun }
  const write = async (random: Random) => {
    const isolate = new TestIsolate(openDatabase({ url: db.url, ranges: db.ranges, deadlineMs: 30_000 }))
    while (!over) {
      const increments = Array.from({ length: 5 }, () => ({
        counter: random.pick(counters),
        by: BigInt(random.between(1, 9)),
      }))
      const all = increments.reduce((sum, { by }) => sum + by, 0n)
      const prefix = increments.reduce((sum, { counter, by }) => sum + (counter.name!.startsWith(PREFIX) ? by : 0n), 0n)
      begun.all += all
      begun.prefix += prefix
      await isolate.count(increments)
      counted.all += all
      counted.prefix += prefix
    }
    await isolate.settle()
  }
  const roll = (sums: KeptSums, maxStatements: number) =>
    rollUp({ db, totals: null, sums }, { at: new Date(), pageSlots: 40, maxStatements, maxSeconds: 60, lease: false })
  const least = leastRollUpStatements(db.ranges, new KeptSums(DECLARED))
  const older = new KeptSums([], [1])
  let readings = 0
  const read = async (prefix: string | null) => {
    for (let complete = 0; complete < READINGS; ) {
      const which = prefix === null ? 'all' : 'prefix'
      const least = counted[which]
      const total = await exactTotal(db, prefix)
      if (total === null) continue
      if (total < least || total > begun[which]) expect.fail(`${which} is ${total}, not ${least} to ${begun[which]}`)
      complete++
      readings++
    }
  }
  const until = async (step: () => Promise<unknown>) => {
    while (!over) await tolerant(step())
  }
  const running = [
    Promise.all([read(null), read(PREFIX)]).finally(() => {
      over = true
    }),
    ...Array.from({ length: 3 }, (_, i) => write(new Random(seed * 10 + i))),
    until(() => roll(new KeptSums(DECLARED), least)),
    until(() => roll(new KeptSums(DECLARED), 200)),
    until(() => roll(older, 200)),
  ]
  await Promise.allSettled(running)
  await Promise.all(running)
  expect(readings).toBe(2 * READINGS)
  expect([await exactTotal(db), await exactTotal(db, PREFIX)]).toEqual([counted.all, counted.prefix])
  await roll(new KeptSums(DECLARED), 5_000)
  for (const prefix of [null, PREFIX, OTHER]) await expectSums(db, prefix)
})

it.each([3, 4, 5])(
  'The sums stay right while everything changes, is cut off, and runs with an older configuration (%i)',
  async (seed) => {
    const db = await freshDatabase()
    const counters = await filled(db)
    await db.behave({ transactionMs: 1_000 })
    let over = false
    const known = [new KeptSums([], [1]), new KeptSums(DECLARED, [1]), new KeptSums(DECLARED.slice(0, 1), [1])]
    const cut = (random: Random): Database =>
      random.chance(0.3)
        ? openDatabase({
            url: db.url,
            ranges: db.ranges,
            deadlineMs: 30_000,
            fetch: cutFetch({ after: random.between(0, 20), delivered: random.chance(0.5), rollback: true }),
          })
        : db
    const change = async (random: Random) => {
      for (let i = 0; i < COUNTED; i++) {
        const ledger = { db: cut(random), totals: null, sums: random.pick(known) }
        const [counter, target] = [random.pick(counters), random.pick(counters)]
        const options = { id: random63(), at: new Date() }
        const kind = random.pick(['set', 'import', 'delete', 'rename', 'merge'] as const)
        if (kind === 'set')
          await tolerant(setCounter(ledger, counter, { count: BigInt(random.between(-50, 500)), ...options }))
        else if (kind === 'import') {
          const rows = [
            { counter, count: 4n, day: new Date('2026-10-02') },
            { counter: target, count: 6n, day: null },
          ]
          await tolerant(importCounts(ledger, rows, options))
        } else if (counter !== target || kind === 'delete') {
          const request = { kind, target: kind === 'delete' ? null : target, below: null, keyed: false, ...options }
          await tolerant(transfer(ledger, counter, request))
        }
      }
    }
    const write = async (random: Random) => {
      while (!over) {
        // A new isolate each time: it does not believe that names of deleted counters are stored.
        const isolate = new TestIsolate(db)
        await isolate.count(Array.from({ length: 5 }, () => ({ counter: random.pick(counters), by: 1n })))
        await isolate.settle()
      }
    }
    const until = async (step: () => Promise<unknown>) => {
      while (!over) await tolerant(step())
    }
    const random = new Random(seed)
    const roll = () =>
      rollUp(
        { db: cut(random), totals: null, sums: random.pick([...known, new KeptSums(DECLARED, [1])]) },
        { at: new Date(), pageSlots: 60, maxStatements: random.between(40, 200), maxSeconds: 60, lease: false },
      )
    const running = [
      Promise.all([change(new Random(seed + 10)), change(new Random(seed + 20))]).finally(() => {
        over = true
      }),
      write(new Random(seed + 30)),
      until(roll),
      until(roll),
    ]
    await Promise.allSettled(running)
    await Promise.all(running)
    await db.behave()
    await finishAll(db)
    const last = () =>
      rollUp(
        { db, totals: null, sums: new KeptSums(DECLARED) },
        { at: new Date(), pageSlots: 500, maxStatements: 5_000, maxSeconds: 60, lease: false },
      )
    // Locks of a transaction whose answer was lost may still be there.
    await expect.poll(() => last().catch(() => null), { timeout: 30_000 }).not.toBeNull()
    await last()
    for (const prefix of [null, PREFIX, OTHER]) await expectSums(db, prefix)
    expect((await verifyAll(db)).wrong).toEqual([])
  },
)
