import { expect, it, onTestFinished, vi } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { hash64 } from '../../../../src/counters/ids.ts'
import { prune } from '../../../../src/counters/old-rows.ts'
import { SlotPool } from '../../../../src/counters/write/flush-group.ts'
import { GroupCommit } from '../../../../src/counters/write/group-commit.ts'
import { consume } from '../../../../src/counters/write/queue.ts'
import { freshDatabase } from '../../../harness/database.ts'
import { BatchesQueue, DeadLetterQueue, TestDelivery } from '../../../harness/fake-queues.ts'
import { countsOf, rollUpAt } from '../../../harness/moves.ts'

const HOUR_MS = 3_600_000

const counter = async (name: string): Promise<CounterAddress> => {
  return { recordType: 1, recordId: await hash64(name), name }
}

it('A batch that was certainly not applied and is queued gets new slots, and counts once for 22 hours of redeliveries', async () => {
  const db = await freshDatabase()
  const queue = new BatchesQueue()
  // The clock stands still: after a second without a flush, an increment would go to the queue.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const isolate = new GroupCommit({
    db: db.open({ deadlineMs: 30_000 }),
    deadlineMs: 30_000,
    classicSlots: new Map(),
    slots: new SlotPool(),
    idempotencyHours: 24,
    queue,
  })
  const countOf = async (name: string) => (await countsOf(db, [await counter(name)]))[0]!
  const hit = async (name: string, by: bigint) => {
    const leading: Promise<unknown>[] = []
    const increments = [{ counter: await counter(name), by }]
    const said = await isolate.count(increments, { waitUntil: (work) => leading.push(work) })
    await Promise.all(leading)
    return said
  }

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
