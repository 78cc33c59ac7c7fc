import { expect, it } from 'vitest'
import { setCounter } from '../../../../src/counters/adjust/set-counter.ts'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { Overtaken } from '../../../../src/counters/ledger/totals.ts'
import { random63 } from '../../../../src/counters/random-id.ts'
import { prune } from '../../../../src/counters/rollup/prune.ts'
import { TransferRefused } from '../../../../src/counters/transfer/transfer-refused.ts'
import { type Database, openDatabase } from '../../../../src/database/database.ts'
import { DatabaseFailure } from '../../../../src/database/errors.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { TestIsolate } from '../../../harness/isolate.ts'
import { Random } from '../../../harness/random.ts'
import { countsOf, expectExact, finishAll, finishTransfer, rollUpAt, sendTransfer } from '../../../harness/transfers.ts'

const COUNTERS = 12
const ROUNDS = 15
const WRITERS = 3

/** A connection that loses some answers, as seldom as a network does in a bad hour. */
function losing(db: TestDatabase, random: Random, probability: number): Database {
  const send: typeof fetch = async (input, init) => {
    const isRollback = /"query":"ROLLBACK"/.test(String(init?.body))
    const lost = !isRollback && random.chance(probability)
    if (lost && random.chance(0.5)) throw new TypeError('lost by the test')
    const response = await fetch(input, init)
    if (!lost) return response
    await response.arrayBuffer()
    throw new TypeError('lost by the test')
  }
  return openDatabase({ url: db.url, ranges: db.ranges, deadlineMs: 30_000, fetch: send })
}

/** What may fail at random here: the outcome is open, others were faster, or there is nothing to do. */
function isExpected(error: unknown): boolean {
  return error instanceof Overtaken || error instanceof TransferRefused || error instanceof DatabaseFailure
}

/**
 * Runs writers, roll-ups, pruning and whatever else is given, until the latter is done.
 *
 * @returns what the writers counted
 */
async function besideWriters(
  db: TestDatabase,
  counters: readonly CounterAddress[],
  seed: number,
  work: (random: Random) => Promise<void>,
): Promise<bigint> {
  let over = false
  let counted = 0n
  const write = async (random: Random) => {
    const isolate = new TestIsolate(openDatabase({ url: db.url, ranges: db.ranges, deadlineMs: 30_000 }))
    while (!over) {
      const by = BigInt(random.between(1, 9))
      await isolate.count([{ counter: random.pick(counters), by }])
      counted += by
    }
    await isolate.settle()
  }
  const untilOver = async (step: () => Promise<unknown>) => {
    while (!over) await step()
  }
  const running = [
    work(new Random(seed)).finally(() => {
      over = true
    }),
    ...Array.from({ length: WRITERS }, (_, i) => write(new Random(seed + i + 1))),
    untilOver(() => rollUpAt(db, new Date(Date.now() - 86_400_000 * (counted % 2n === 0n ? 1 : 0)))),
    untilOver(() => rollUpAt(db)),
    untilOver(() => prune(db, { idempotencyHours: -1, pageSlots: 50, maxStatements: 10 })),
  ]
  await Promise.allSettled(running)
  await Promise.all(running)
  return counted
}

const countersOf = () =>
  Array.from({ length: COUNTERS }, (_, i): CounterAddress => {
    return { recordType: 1, recordId: BigInt.asUintN(64, BigInt(i + 1) * 0x9e3779b97f4a7c15n), name: `/counter/${i}` }
  })

it.each([1, 2])(
  'Merges and renames at random beside writers and roll-ups lose nothing and double nothing (%i)',
  async (seed) => {
    const db = await freshDatabase()
    const counters = countersOf()
    const counted = await besideWriters(db, counters, seed, async (random) => {
      const move = async () => {
        for (let i = 0; i < ROUNDS; i++) {
          const [source, target] = [random.pick(counters), random.pick(counters)]
          if (source === target) continue
          const asked = {
            kind: random.chance(0.85) ? 'merge' : 'rename',
            target,
            id: random63(),
            keyed: random.chance(0.5),
          } as const
          await sendTransfer(losing(db, random, 0.02), source, asked).catch((error: unknown) => {
            if (!isExpected(error)) throw error
          })
          if (i % 5 === 0) await expectExact(db)
        }
      }
      await Promise.all([move(), move()])
    })
    await finishAll(db)
    // Those with keys, in however many requests.
    expect(await db.number('SELECT COUNT(*) FROM counter_transfers WHERE role = 1 AND stage = 3')).toBeGreaterThan(0n)
    expect(sum(await countsOf(db, counters))).toBe(counted)
    await rollUpAt(db)
    expect(sum(await countsOf(db, counters))).toBe(counted)
    expect(await db.number('SELECT SUM(count) FROM counter_totals')).toBe(counted)
    expect(await db.number('SELECT SUM(count) FROM type_history WHERE period = 1')).toBe(counted)
    await expectExact(db)
  },
)

it.each([4])(
  'Deletes, merges, renames and settings at random beside writers and roll-ups leave every table right (%i)',
  async (seed) => {
    const db = await freshDatabase()
    const counters = countersOf()
    await besideWriters(db, counters, seed, async (random) => {
      const change = async () => {
        for (let i = 0; i < ROUNDS; i++) {
          const [source, target] = [random.pick(counters), random.pick(counters)]
          const kind = random.pick(['delete', 'delete', 'merge', 'rename', 'set'] as const)
          const on = losing(db, random, 0.02)
          const setting = { count: BigInt(random.between(-50, 500)), id: random63(), at: new Date() }
          if (kind !== 'set' && kind !== 'delete' && target === source) continue
          const changing =
            kind === 'set'
              ? setCounter({ db: on, totals: null }, source, setting)
              : sendTransfer(on, source, { kind, target: kind === 'delete' ? null : target })
          await changing.catch((error: unknown) => {
            if (!isExpected(error)) throw error
          })
          if (i % 5 === 0) await expectExact(db)
        }
      }
      await Promise.all([change(), change(), change()])
    })
    await finishAll(db)
    await expectExact(db)
    await rollUpAt(db)
    await expectExact(db)
    for (const counter of counters) await finishTransfer(db, counter).catch(() => {})
    // Nothing is left of any of them, and nothing in the history of the type.
    for (const table of [
      'counter_totals',
      'counter_history',
      'counter_periods',
      'counter_adjustments',
      'counter_names WHERE gone_hour IS NULL',
    ]) {
      expect([table, await db.number(`SELECT COUNT(*) FROM ${table}`)]).toEqual([table, 0n])
    }
    expect(await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')).toBe(0n)
    await expectExact(db)
  },
)

const sum = (counts: readonly bigint[]) => counts.reduce((all, count) => all + count, 0n)
