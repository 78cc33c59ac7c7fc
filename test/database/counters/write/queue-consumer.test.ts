import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { hash64, random63 } from '../../../../src/counters/ids.ts'
import type { Increment } from '../../../../src/counters/write/increment-group.ts'
import { type ConsumeContext, consume, sendToQueue } from '../../../../src/counters/write/queue.ts'
import { type Database, openDatabase } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { BatchesQueue, DeadLetterQueue, NOW, TestDelivery } from '../../../harness/fake-queues.ts'
import { makeBatch } from '../../../harness/make-batch.ts'
import { countsOf, rollUpAt } from '../../../harness/moves.ts'

const HOUR_MS = 3_600_000
const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds)

let db: TestDatabase
let sent = 0
beforeAll(async () => {
  db = await freshDatabase()
})

const counter = async (name: string, recordType = 1): Promise<CounterAddress> => ({
  recordType,
  recordId: await hash64(name),
  name,
})
/** Sends increments to a queue as one batch, by default in the slot of a writer, and delivers them. */
async function queued(
  increments: readonly Increment[],
  since = ago(60_000),
  keyed = false,
  kept = 24,
): Promise<TestDelivery> {
  const queue = new BatchesQueue()
  const batch = random63()
  const slot = keyed ? batch : random63()
  await sendToQueue(
    queue,
    makeBatch(batch, increments, slot),
    increments.map(({ counter }) => counter),
    { since, fate: 'unknown', idempotencyHours: kept },
  )
  expect(queue.bodies).toHaveLength(1)
  return new TestDelivery(queue.bodies[0])
}
const one = async (name: string, by = 1n, since?: Date, keyed?: boolean) =>
  queued([{ counter: await counter(name), by }], since, keyed)

/** A database that counts statements. The consumer tries each statement once. */
const counted = (database: Database): Database => ({
  ...database,
  execute(sql, args) {
    sent++
    return database.execute(sql, args)
  },
})
const run = (messages: readonly TestDelivery[], context: Partial<ConsumeContext> = {}) => {
  sent = 0
  return consume({ db: counted(db), idempotencyHours: 24, deadLetters: null, ...context }, messages, NOW)
}
const countOf = async (name: string) => (await countsOf(db, [await counter(name)]))[0]!
const fates = (messages: readonly TestDelivery[]) => messages.map(({ fate }) => fate)
const RETRIED = { delaySeconds: expect.any(Number) }

describe('A batch from the queue', () => {
  it('counts once in any order, any number of deliveries, and any roll-ups in between', async () => {
    let round = 0
    const order = fc.array(fc.tuple(fc.nat(7), fc.boolean()), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { minLength: 8, maxLength: 8 }), order, async (keys, deliveries) => {
        const prefix = `/order/${round++}`
        const messages = await Promise.all(keys.map((key, i) => one(`${prefix}/${key}`, 10n ** BigInt(i))))
        for (const [which, rolledUp] of deliveries) {
          await run([messages[which]!.again(), messages[(which * 3) % 8]!.again()])
          if (rolledUp) await rollUpAt(db)
        }
        const came = new Set(deliveries.flatMap(([which]) => [which, (which * 3) % 8]))
        for (let key = 0; key <= 3; key++) {
          const sum = [...came].filter((i) => keys[i] === key).reduce((sum, i) => sum + 10n ** BigInt(i), 0n)
          expect(await countOf(`${prefix}/${key}`)).toBe(sum)
        }
      }),
      { numRuns: 12 },
    )
  })

  it.each([
    ['was counted', 24, 22 * HOUR_MS, 'keyed', false],
    ['was counted, with a short window', 1, HOUR_MS / 2, 'keyed', false],
    ['was counted by a writer, whose slot is kept for an hour', 24, HOUR_MS / 2, 'writer', false],
    ['was sent to the queue, by the queue’s clock', 24, 22 * HOUR_MS, 'keyed', true],
  ])('is not applied once it is too old since it %s', async (_, idempotencyHours, age, kind, byQueue) => {
    const aged = async (name: string, age: number) => {
      const message = await one(name, 1n, byQueue ? NOW : ago(age), kind === 'keyed')
      if (byQueue) message.timestamp = ago(age)
      return message
    }
    const name = `/aged/${idempotencyHours}/${kind}/${byQueue}`
    const [late, inTime] = [await aged(name, age + 1), await aged(name, age)]
    const deadLetters = new DeadLetterQueue()
    expect(await run([late, inTime], { idempotencyHours: idempotencyHours, deadLetters })).toMatchObject({
      applied: 1,
      retried: 0,
    })
    expect(await countOf(name)).toBe(1n)
    expect(fates([late, inTime])).toEqual(['acknowledged', 'acknowledged'])
    expect(deadLetters.letters).toEqual([
      {
        kind: 'slotted-counter/dead-letter',
        version: 1,
        reason: 'too_old',
        detail: expect.stringContaining(`counted before ${ago(age).toISOString()}`),
        at: NOW.toISOString(),
        messageId: late.id,
        attempts: 1,
        message: late.body,
      },
    ])
  })

  it('that was kept for a shorter time than the settings now say is judged by that time', async () => {
    const deadLetters = new DeadLetterQueue()
    const messages = await Promise.all(
      [24, 168].map(async (hours) =>
        queued([{ counter: await counter(`/longer/${hours}`), by: 1n }], ago(30 * HOUR_MS), true, hours),
      ),
    )
    expect(await run(messages, { idempotencyHours: 168, deadLetters })).toMatchObject({ applied: 1 })
    expect(await Promise.all([24, 168].map((hours) => countOf(`/longer/${hours}`)))).toEqual([0n, 1n])
    expect(deadLetters.letters).toMatchObject([{ reason: 'too_old' }])
  })
})

/** A database that refuses connections. */
function unreachable(): Database {
  return openDatabase({ url: 'http://user:password@127.0.0.1:1', deadlineMs: 5_000 })
}

describe('A message that can never be counted', () => {
  it('goes to the dead-letter queue with the reason, and the other messages are counted', async () => {
    const limit = 2n ** 63n
    const malformed = new TestDelivery({ kind: 'slotted-counter/batch', version: 1, rows: 'none' }, { attempts: 3 })
    const foreign = new TestDelivery('not ours')
    const tooMuch = await one('/range', limit)
    const good = [await one('/good', 1n), await one('/good', 2n), await one('/good', 4n)]
    const deadLetters = new DeadLetterQueue()
    const messages = [good[0]!, malformed, good[1]!, tooMuch, foreign, good[2]!]
    const summary = await run(messages, { deadLetters })
    expect(summary).toMatchObject({ applied: 3, retried: 0, error: null, dead: deadLetters.letters })
    expect(fates(messages)).toEqual(Array(6).fill('acknowledged'))
    expect([await countOf('/good'), await countOf('/range')]).toEqual([7n, 0n])
    const common = { kind: 'slotted-counter/dead-letter', version: 1, at: NOW.toISOString() }
    const letters = [
      {
        ...common,
        reason: 'malformed',
        detail: expect.stringMatching(/rows[\s\S]*since|since[\s\S]*rows/),
        messageId: malformed.id,
        attempts: 3,
        message: malformed.body,
      },
      {
        ...common,
        reason: 'refused',
        detail: expect.stringMatching(/out of range/i),
        messageId: tooMuch.id,
        attempts: 1,
        message: tooMuch.body,
      },
      {
        ...common,
        reason: 'malformed',
        detail: expect.stringContaining('object'),
        messageId: foreign.id,
        attempts: 1,
        message: 'not ours',
      },
    ]
    expect(deadLetters.letters).toHaveLength(letters.length)
    expect(deadLetters.letters).toEqual(expect.arrayContaining(letters))
  })

  it('is refused as a whole if one of its counters would leave 64 bits', async () => {
    const full = await counter('/full')
    await db.insert('slotted_counters', '(1, ?, 1, ?, 1, 0)', [full.recordId, 2n ** 63n - 1n])
    const slotOne = (message: TestDelivery) =>
      JSON.parse(JSON.stringify(message.body).replaceAll(/"slot":"\d+"/g, '"slot":"1"')) as unknown
    const message = new TestDelivery(
      slotOne(
        await queued([
          { counter: full, by: 1n },
          { counter: await counter('/beside'), by: 1n },
        ]),
      ),
    )
    const deadLetters = new DeadLetterQueue()
    await run([message], { deadLetters })
    expect(deadLetters.letters).toMatchObject([{ reason: 'refused', message: message.body }])
    expect([await countOf('/full'), await countOf('/beside')]).toEqual([2n ** 63n - 1n, 0n])
  })

  it('stays in the queue while the dead-letter queue fails', async () => {
    const messages = [new TestDelivery('bad'), await one('/beside-the-dead'), await one('/old', 1n, ago(24 * HOUR_MS))]
    const deadLetters = new DeadLetterQueue()
    deadLetters.failing = true
    expect(await run(messages, { deadLetters })).toMatchObject({ applied: 1, retried: 2 })
    expect(fates(messages)).toEqual([RETRIED, 'acknowledged', RETRIED])
    deadLetters.failing = false
    const again = [messages[0]!.again(), messages[2]!.again()]
    await run(again, { deadLetters })
    expect(fates(again)).toEqual(['acknowledged', 'acknowledged'])
    expect(deadLetters.letters.map(({ reason, attempts }) => [reason, attempts])).toEqual([
      ['malformed', 2],
      ['too_old', 2],
    ])
  })

  it('is retried without a dead-letter binding, until the platform moves it to its own dead-letter queue', async () => {
    const messages = [new TestDelivery('bad'), await one('/old', 1n, ago(24 * HOUR_MS)), await one('/beside-those')]
    const summary = await run(messages)
    expect(fates(messages)).toEqual([RETRIED, RETRIED, 'acknowledged'])
    expect(summary).toMatchObject({ applied: 1, retried: 2, error: null })
    expect(summary.dead.map(({ reason }) => reason)).toEqual(['malformed', 'too_old'])
  })
})

describe('While the database is down', () => {
  it('batches are retried later and only the first is tried, and malformed messages wait until they can be recorded as dead', async () => {
    const messages = [await one('/down'), await one('/down'), new TestDelivery('bad'), await one('/down')]
    const deadLetters = new DeadLetterQueue()
    const summary = await run(messages, { db: counted(unreachable()), deadLetters })
    expect(summary).toMatchObject({ applied: 0, retried: 4, error: expect.any(String) })
    expect(fates(messages)).toEqual([RETRIED, RETRIED, RETRIED, RETRIED])
    expect(sent).toBe(2)
    const again = messages.filter(({ body }) => body !== 'bad').map((message) => message.again())
    expect(await run(again)).toMatchObject({ applied: 3, retried: 0, error: null })
    expect(await countOf('/down')).toBe(3n)
  })

  it.each([
    ['an answer is lost after the commit', { action: 'cut-answer' }],
    ['the connection is cut', { action: 'cut-request' }],
    ['it is a deadlock victim', { action: 'error', errno: 1213 }],
    ['the tables do not exist yet', { action: 'error', errno: 1146 }],
    ['the credentials are refused', { action: 'error', errno: 1045 }],
  ] as const)('a batch counts once if %s at the first attempt', async (why, fault) => {
    const messages = [await one(`/once/${why}`), await one(`/once/${why}`, 10n)]
    await db.behave({ faults: [{ ...fault, match: 'INSERT INTO slotted' }] })
    await run(messages)
    await db.behave()
    expect(fates(messages)).toEqual([RETRIED, RETRIED])
    await run(messages.map((message) => message.again()))
    expect(await countOf(`/once/${why}`)).toBe(11n)
  })

  it('the delay grows by half with each delivery, from 5 seconds to 20 minutes, minus up to half at random', async () => {
    for (let attempts = 1; attempts <= 100; attempts++) {
      const message = await one('/never')
      message.attempts = attempts
      await run([message], { db: counted(unreachable()) })
      const longest = Math.ceil(Math.min(5 * 1.5 ** (attempts - 1), 1_200))
      const { delaySeconds } = message.fate as { delaySeconds: number }
      expect(delaySeconds).toBeGreaterThanOrEqual(longest / 2)
      expect(delaySeconds).toBeLessThanOrEqual(longest)
      expect(Number.isInteger(delaySeconds)).toBe(true)
    }
  })
})
