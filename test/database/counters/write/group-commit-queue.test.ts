import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hash64 } from '../../../../src/counters/ids.ts'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { prune } from '../../../../src/counters/old-rows.ts'
import { SlotPool } from '../../../../src/counters/write/flush-group.ts'
import { GroupCommit } from '../../../../src/counters/write/group-commit.ts'
import { batchQueue, consume } from '../../../../src/counters/write/queue.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { BatchesQueue, DeadLetterQueue, TestDelivery } from '../../../harness/fake-queues.ts'
import { countsOf, rollUpAt } from '../../../harness/moves.ts'

const HOUR_MS = 3_600_000

describe('A batch that was queued', () => {
  let db: TestDatabase
  let queue: BatchesQueue
  let isolate: GroupCommit
  beforeEach(async () => {
    db = await freshDatabase()
    queue = new BatchesQueue()
    // The clock stands still: after a second without a flush, an increment would go to the queue.
    vi.useFakeTimers({ toFake: ['Date'] })
    isolate = new GroupCommit({
      db: db.open({ deadlineMs: 30_000 }),
      deadlineMs: 30_000,
      classicSlots: new Map(),
      slots: new SlotPool(),
      idempotencyHours: 24,
      queue: batchQueue(queue),
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  const counter = async (name: string): Promise<CounterAddress> => {
    return { recordType: 1, recordId: await hash64(name), name }
  }
  const countOf = async (name: string) => (await countsOf(db, [await counter(name)]))[0]!
  const hit = async (name: string, by: bigint, key?: bigint) => {
    const leading: Promise<unknown>[] = []
    const increments = [{ counter: await counter(name), by, key }]
    const said = await isolate.count(increments, { waitUntil: (work) => leading.push(work) })
    await Promise.all(leading)
    return said
  }
  const lost = async (name: string, by: bigint, key?: bigint) => {
    await db.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted', times: 9 }] })
    expect(await hit(name, by, key)).toBe('queued')
    await db.behave()
    // It was applied, which the isolate cannot know. The message says so.
    expect(await countOf(name)).toBe(by)
    expect(queue.bodies).toMatchObject([{ applied: 'unknown' }])
    // Timestamp: now, because the isolate counted by the real clock.
    return new TestDelivery(queue.bodies[0], { timestamp: new Date() })
  }
  const now = (messages: readonly TestDelivery[]) =>
    consume({ db, idempotencyHours: 24, deadLetters: null }, messages, new Date())

  it('because its answer was lost counts once, also after later increments of the isolate', async () => {
    const message = await lost('/lost', 1_000n)
    for (let i = 0; i < 5; i++) expect(await hit('/lost', 1n)).toBe('counted')
    await now([message, message.again()])
    expect(await countOf('/lost')).toBe(1_005n)
  })

  it('because its answer was lost counts once after a roll-up', async () => {
    const message = await lost('/lost/rolled-up', 1_000n)
    await hit('/lost/rolled-up', 1n)
    await rollUpAt(db)
    await now([message])
    expect(await countOf('/lost/rolled-up')).toBe(1_001n)
    await rollUpAt(db)
    expect(await countOf('/lost/rolled-up')).toBe(1_001n)
  })

  it('because its answer was lost counts once with an idempotency key that is repeated before and after the delivery', async () => {
    const key = await hash64('a key')
    const message = await lost('/lost/keyed', 1_000n, key)
    expect(await hit('/lost/keyed', 1_000n, key)).toBe('counted')
    await now([message])
    expect(await hit('/lost/keyed', 1_000n, key)).toBe('counted')
    await now([message.again()])
    expect(await countOf('/lost/keyed')).toBe(1_000n)
  })

  it('that was certainly not applied gets new slots, and counts once for 22 hours of redeliveries', async () => {
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: 'INSERT INTO slotted', times: 100 }] })
    const names = ['/away/0', '/away/1', '/away/2']
    expect(await Promise.all(names.map((name, i) => hit(name, 10n ** BigInt(i))))).toEqual(names.map(() => 'queued'))
    await db.behave()
    for (const body of queue.bodies as { applied: string; rows: { slot: string; batch: string }[] }[]) {
      expect(body.applied).toBe('no')
      for (const { slot, batch } of body.rows) expect(slot).toBe(batch)
    }
    const messages = queue.bodies.map((body) => new TestDelivery(body, { timestamp: new Date() }))
    const late = new Date(Date.now() + 21 * HOUR_MS)
    const deliver = (some: readonly TestDelivery[]) =>
      consume({ db, idempotencyHours: 24, deadLetters: null }, some, late)
    await hit('/away/0', 1n)
    await Promise.all([deliver(messages), deliver(messages.map((message) => message.again()).reverse())])
    await rollUpAt(db)
    // What an hour and more of other writers leave is gone. What the queue may bring again is not.
    await db.arrange('UPDATE slotted_counters SET kept_until = kept_until - 3')
    await prune(db, { pageSlots: 100, maxStatements: 100 })
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters WHERE slot <> batch')).toBe(0n)
    await deliver(messages.map((message) => message.again()))
    expect(await Promise.all(names.map(countOf))).toEqual([2n, 10n, 100n])
    const deadLetters = new DeadLetterQueue()
    const tooLate = new Date(Date.now() + 22 * HOUR_MS + 1)
    await consume(
      { db, idempotencyHours: 24, deadLetters },
      messages.map((message) => message.again()),
      tooLate,
    )
    expect(deadLetters.letters.map(({ reason }) => reason)).toEqual(messages.map(() => 'too_old'))
    expect(await Promise.all(names.map(countOf))).toEqual([2n, 10n, 100n])
  })
})
