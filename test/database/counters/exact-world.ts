import fc from 'fast-check'
import { expect, it } from 'vitest'
import { setCounter } from '../../../src/counters/changes/set-counter.ts'
import type { CounterAddress } from '../../../src/counters/counter-address.ts'
import { random63 } from '../../../src/counters/ids.ts'
import { applyBatch } from '../../../src/counters/ledger/slots.ts'
import { Overtaken } from '../../../src/counters/ledger/totals.ts'
import { prune } from '../../../src/counters/old-rows.ts'
import { SlotPool } from '../../../src/counters/write/flush-group.ts'
import type { Database } from '../../../src/database/database.ts'
import { DatabaseFailure } from '../../../src/database/errors.ts'
import { toBigInt } from '../../../src/database/values.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { type Cut, cutFetch } from '../../harness/faulty-fetch.ts'
import { Ledger } from '../../harness/ledger.ts'
import { makeBatch } from '../../harness/make-batch.ts'
import { nameCounter, rollUpAt } from '../../harness/moves.ts'
import { verifyAll } from '../../harness/verify-all.ts'

export const COUNTERS = 6
/** Milliseconds. Beside three busy processes and another run of tests, each test took more than 120 s. */
export const TIMEOUT_MS = 600_000
/** No counter is further from 0 than this. */
const FAR = 1_000_000n

/** One of the things that happen at the same time. */
export type Action =
  | { kind: 'increment'; parts: { counter: number; by: number }[]; resends: number; later: boolean }
  | { kind: 'rollUp'; runs: number; pageSlots: number }
  | { kind: 'cutRollUp'; cut: Cut; pageSlots: number }
  | { kind: 'set'; counter: number; to: number; sends: number; cut: Cut | null }
  | { kind: 'read' }
  | { kind: 'prune' }

const part = fc.record({
  counter: fc.nat(COUNTERS - 1),
  by: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.integer({ min: -9, max: -1 })),
})
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('increment' as const),
      parts: fc.array(part, { minLength: 1, maxLength: 4 }),
      resends: fc.constantFrom(0, 0, 0, 1, 2),
      later: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('rollUp' as const),
      runs: fc.constantFrom(1, 2, 8),
      pageSlots: fc.integer({ min: 1, max: 20 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('cutRollUp' as const),
      cut: fc.record({ after: fc.nat(14), delivered: fc.boolean(), rollback: fc.constant(true) }),
      pageSlots: fc.integer({ min: 1, max: 20 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      counter: fc.nat(COUNTERS - 1),
      to: fc.integer({ min: -99, max: 99 }),
      sends: fc.constantFrom(1, 1, 2),
      cut: fc.option(fc.record({ after: fc.nat(8), delivered: fc.boolean(), rollback: fc.constant(true) })),
    }),
  },
  { weight: 4, arbitrary: fc.constant<Action>({ kind: 'read' }) },
  { weight: 1, arbitrary: fc.constant<Action>({ kind: 'prune' }) },
)

/** Runs actions with the product's own functions, and keeps a ledger. */
export class World {
  readonly db: TestDatabase
  readonly ledger: Ledger
  /** Pages that roll-ups moved, and pages that another roll-up had moved first. */
  pages = 0
  overtaken = 0
  readonly #slots = new SlotPool()
  readonly #late: (() => Promise<void>)[] = []
  #settings = Date.now()

  constructor(db: TestDatabase, recordType: number) {
    this.db = db
    const counters = Array.from(
      { length: COUNTERS },
      (_, id): CounterAddress => ({ recordType, recordId: BigInt(id), name: `/${id}` }),
    )
    this.ledger = new Ledger(counters)
  }

  async run(action: Action): Promise<void> {
    switch (action.kind) {
      case 'increment':
        return this.#increment(action)
      case 'rollUp': {
        const options = { pageSlots: action.pageSlots, maxStatements: 60 }
        const runs = await Promise.all(
          // A run gives up if locks of a transaction whose answer was lost keep it waiting.
          Array.from({ length: action.runs }, () => rollUpAt(this.db, new Date(), options).catch(giveUp)),
        )
        for (const { pages, overtaken } of runs) {
          this.pages += pages
          this.overtaken += overtaken
        }
        return
      }
      case 'cutRollUp': {
        const cut = this.db.open({ deadlineMs: 60_000, fetch: cutFetch(action.cut) })
        await rollUpAt(cut, new Date(), { pageSlots: action.pageSlots, maxStatements: 60 }).catch(() => {})
        return
      }
      case 'set':
        return this.#set(action)
      case 'read':
        return this.ledger.checkReading(this.db)
      case 'prune':
        return this.#age()
    }
  }

  /** Sends the repeats that were put off, then checks everything. */
  async settle(): Promise<void> {
    // Transactions get their usual time from here on: a healthy one must not fail because the machine pauses for a second. Those
    // that were left behind keep theirs.
    await this.db.behave()
    await Promise.all(this.#late.map((resend) => resend()))
    await this.ledger.checkExactly(this.db)
    await rollUpAt(this.db, new Date(), { pageSlots: 100, maxSeconds: 600 })
    await this.ledger.checkExactly(this.db)
    expect(await this.db.number('SELECT COUNT(*) FROM slotted_counters WHERE count <> 0')).toBe(0n)
    const sum = (of: string) => this.db.number(`SELECT COALESCE(SUM(count), 0) FROM ${of}`)
    const totals = (await sum('counters')) - (await sum('counter_adjustments'))
    expect(await sum('counter_history')).toBe(totals)
    for (const period of [1, 2]) expect(await sum(`counter_periods WHERE period = ${period}`)).toBe(totals)
    expect((await verifyAll(this.db)).wrong).toEqual([])
    for (const period of [0, 1, 2]) expect(await sum(`type_history WHERE period = ${period}`)).toBe(totals)
    expect(await sum('type_history WHERE period = 3')).toBe(await sum('counter_adjustments'))
  }

  async #increment({ parts, resends, later }: Extract<Action, { kind: 'increment' }>): Promise<void> {
    const slot = this.#slots.lease()
    const increments = parts.map(({ counter, by }) => ({ counter: this.ledger.counters[counter]!, by: BigInt(by) }))
    const batch = makeBatch(random63(), increments, slot)
    for (const { counter, by } of parts) this.ledger.begin(counter, BigInt(by))
    await applyBatch(this.db, batch, 24)
    for (const { counter, by } of parts) this.ledger.acknowledge(counter, BigInt(by))
    const resend = async () => {
      await Promise.all(Array.from({ length: resends }, () => applyBatch(this.db, batch, 24)))
      this.#slots.release(slot)
    }
    // The slot is released after the last repeat. Until then the fate of its batch is unknown.
    if (later && resends > 0) this.#late.push(resend)
    else await resend()
  }

  /** Sets a counter with the same id until that has succeeded, and then once more. */
  async #set({ counter: index, to, sends, cut }: Extract<Action, { kind: 'set' }>): Promise<void> {
    const counter = this.ledger.counters[index]!
    // Each has a different time, by which its adjustment is found.
    const setting = { count: BigInt(to), id: random63(), at: new Date(this.#settings++) }
    this.ledger.beginSetting(index, FAR)
    if (cut !== null) {
      const cutOff = this.db.open({ deadlineMs: 60_000, fetch: cutFetch(cut) })
      await setCounter(mortal(cutOff), counter, setting).catch(() => {})
    }
    const surely = async (): Promise<unknown> => {
      try {
        return (await setCounter(this.db, counter, setting)).outcome
      } catch (error) {
        // It also gives up if a transaction whose answer was lost holds its locks.
        if (error instanceof Overtaken || (error instanceof DatabaseFailure && error.retry)) return surely()
        throw error
      }
    }
    await Promise.all(Array.from({ length: sends }, surely))
    const { rows } = await this.db.execute(
      'SELECT count FROM counter_adjustments WHERE record_type = ? AND record_id = ? AND adjusted_at = ?',
      [counter.recordType, counter.recordId, setting.at.toISOString().slice(0, 23).replace('T', ' ')],
    )
    expect(rows).toHaveLength(1)
    this.ledger.acknowledgeSetting(index, FAR, toBigInt(rows[0]?.count))
    expect(await surely()).toBe('repeated')
  }

  /** Ages the slots that no batch uses by two days, and prunes. */
  async #age(): Promise<void> {
    const idle: bigint[] = []
    const isKnown = async (slot: bigint) =>
      (await this.db.number('SELECT COUNT(*) FROM slotted_counters WHERE slot = ?', [slot])) > 0n
    for (let slot = this.#slots.lease(); await isKnown(slot); slot = this.#slots.lease()) idle.push(slot)
    // As a roll-up does, this gives up if a transaction takes too long. The next one does what it left.
    if (idle.length > 0) {
      const places = idle.map(() => '?').join(', ')
      const age = `UPDATE slotted_counters SET kept_until = kept_until - 48 WHERE slot IN (${places})`
      await this.db.arrange(age, idle).catch(giveUp)
    }
    await prune(this.db, { pageSlots: 5, maxStatements: 100 }).catch(giveUp)
    for (const slot of idle) this.#slots.release(slot)
  }
}

/** Accepts a failure that may pass. */
function giveUp(error: unknown): { pages: number; overtaken: number } {
  if (error instanceof DatabaseFailure && error.retry) return { pages: 0, overtaken: 0 }
  throw error
}

/** A database whose failures are never retried, as if the caller had been killed. */
function mortal(database: Database): Database {
  const dying = (error: unknown) => {
    throw new DatabaseFailure({ kind: 'unavailable', retry: false, applied: 'unknown' }, error)
  }
  return {
    ranges: database.ranges,
    execute: (sql, args) => database.execute(sql, args).catch(dying),
    transaction: (work) => database.transaction(work).catch(dying),
  }
}

/** Runs all actions, `width` at a time. */
async function interleave(world: World, actions: readonly Action[], width: number): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < actions.length) await world.run(actions[next++]!)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

/** Tests random actions. On Vitess, a run of them takes about 8 s. */
export function testRandomActions(numRuns: number): void {
  it('Every counter is exact in any order of increments, sets, repeats, reads, roll-ups, roll-ups that are cut off, and pruning', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 40, maxLength: 120 }),
        fc.integer({ min: 1, max: 16 }),
        async (actions, width) => {
          const db = await freshDatabase()
          // If the answer to the first statement of a transaction is lost, its locks stay until its time is up. On a slow machine,
          // that also ends healthy ones, which all actions accept.
          await db.behave({ transactionMs: 1_000 })
          const world = new World(db, 1)
          for (const counter of world.ledger.counters) await nameCounter(db, counter)
          await interleave(world, actions, width)
          await world.settle()
        },
      ),
      // No shrinking: a failure that depends on timing does not repeat with fewer actions.
      { numRuns, endOnFailure: true, includeErrorInReport: true },
    )
  })
}
