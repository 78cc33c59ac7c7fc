import { beforeEach, describe, expect, it } from 'vitest'
import type { Random } from '../harness/random.ts'
import { AUTHORIZED, hitOf, incrementOf, type Message, mortal, send, sendAndLeave, statusOf, under } from './client.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { type FaultyDatabase, freshDatabase } from './faulty-database.ts'
import type { Increment } from './increment.ts'
import { Isolate } from './isolate.ts'
import { BATCH, LateNetwork } from './late-network.ts'
import { seededRandom } from './seeded-random.ts'
import { settleAndCheck } from './settle-and-check.ts'

const MANY = 300
/** Those of them that wait at the same time: few enough to arrive before a statement is given up, on a slow machine as well. */
const CROWD = 100
/** A request that sets or imports sends more than this: BEGIN, one to read, one for the name, one for the total, and COMMIT. */
const LEAST_STATEMENTS = 5

describe('When clients hang up', () => {
  let db: FaultyDatabase
  let isolate: Isolate
  let random: Random
  let expected: ExpectedCounts
  let network: LateNetwork
  const page = (key: string, by = 1): Increment => ({ type: 'page_view', key, by })

  beforeEach(async () => {
    db = await freshDatabase()
    random = seededRandom()
    network = await LateNetwork.start(db.url, random)
    const [first] = await Isolate.start(1, network.url)
    isolate = first!
    expected = new ExpectedCounts()
  })

  /** Sends from clients that hang up when told to, and waits until all requests have reached the isolate. */
  const waiting = async (messages: readonly Message[]) => {
    const hungUp = Promise.withResolvers<void>()
    const { waiting: before } = await isolate.load()
    const fates = messages.map((message) => send(isolate.url, message, hungUp.promise))
    await isolate.until(({ waiting }) => waiting === before + messages.length)
    return {
      async hangUp() {
        hungUp.resolve()
        return Promise.all(fates)
      },
    }
  }

  /** Sends increments and records the answers. Some may time out before another request takes over. */
  const sendAll = async (increments: readonly Increment[]) => {
    const fates = await Promise.all(increments.map((increment) => send(isolate.url, incrementOf(increment))))
    for (const [i, increment] of increments.entries()) expected.record([increment], fates[i]!)
  }

  /**
   * Waits until the leader's batch has met the fault. The isolate must not have flushed before: until its first flush, it has one
   * leader only, and all other requests wait.
   */
  const leaderStruck = () => expect.poll(() => db.strikesLeft(), { interval: 5 }).toBe(0)

  const check = () => settleAndCheck({ db, isolates: [isolate], network, expected })

  it('while the database is asked whether their keys may be new, the hits count', async () => {
    const COUNTERS = { page_view: { record_type: 1, public: true, allowed_origins: ['*'], new_keys_per_minute: 1_000 } }
    const [asking] = await Isolate.start(1, network.url, { COUNTERS })
    const gate = network.close()
    const { begun: before } = await asking!.load()
    const hangUp = Promise.withResolvers<void>()
    const increments = Array.from({ length: 50 }, (_, i) => page(`/new/${i}`))
    const fates = increments.map((increment) => send(asking!.url, hitOf(increment), hangUp.promise))
    // None waits for its count yet.
    await asking!.until(({ begun, waiting }) => begun - before === increments.length && waiting === 0)
    hangUp.resolve()
    expect(await Promise.all(fates)).toEqual(increments.map(() => 'unknown'))
    // By its answer, the isolate has noticed that they are gone.
    await asking!.load()
    gate.open()
    await expect.poll(() => sumOf(db)).toBe(increments.length)
    for (const increment of increments) expected.record([increment], 'counted')
    await check()
  })

  it('300 hits that have arrived in full all count, the leader and its followers', async () => {
    for (let sent = 0; sent < MANY; sent += CROWD) {
      const gate = network.close({ match: BATCH })
      const increments = Array.from({ length: CROWD }, (_, i) => page(i % 3 === 0 ? '/hot' : `/own/${sent + i}`))
      const clients = await waiting(increments.map(hitOf))
      expect(await clients.hangUp()).toEqual(increments.map(() => 'unknown'))
      await isolate.load()
      gate.open()
      await isolate.idle()
      for (const increment of increments) expected.record([increment], 'counted')
    }
    await check()
  })

  it('with RST at once or a moment later, every hit that the Worker was given counts once', async () => {
    const increment = page('/pixel')
    const pixel: Message = { method: 'GET', path: '/hit.gif?type=page_view&key=/pixel' }
    const { begun: before } = await isolate.load()
    const begun = async () => (await isolate.load()).begun - before
    // workerd does not give the Worker requests whose clients have left before it gets to them. So they stay for longer each time.
    for (let mostMs = 20; (await begun()) < MANY; mostMs *= 1.5) {
      const sent = Array.from({ length: MANY }, () =>
        sendAndLeave(isolate.port, pixel, { by: 'RST', afterMs: random.between(0, Math.round(mostMs)) }),
      )
      await Promise.all(sent)
    }
    await expect.poll(async () => (await sumOf(db)) - (await begun())).toBe(0)
    for (let left = await begun(); left > 0; left--) expected.record([increment], 'counted')
    expect(expected.size).toBeGreaterThanOrEqual(MANY)
    await check()
  })

  it.each(['hang-request', 'hang-answer'] as const)(
    'and the leader ends with all of its work after %s, another request takes over, and the hit of the leader counts once',
    async (action) => {
      await db.behave({ faults: [{ action, match: BATCH.source }] })
      const leader = await waiting([mortal(hitOf(page('/leader')))])
      await leaderStruck()
      // For the ranges where nothing fails.
      const gate = network.close({ match: BATCH })
      const followers = Array.from({ length: 20 }, (_, i) => page(i % 2 === 0 ? '/leader' : `/own/${i}`, 3))
      const answered = sendAll(followers)
      await isolate.until(({ waiting }) => waiting === 21)
      expect(await leader.hangUp()).toEqual(['unknown'])
      gate.open()
      await answered
      expected.record([page('/leader')], 'counted')
      await check()
    },
  )

  it('and the leader ends with all that waited for it, they count when a request arrives much later', async () => {
    await db.behave({ faults: [{ action: 'hang-request', match: BATCH.source }] })
    const increments = ['/leader', '/a', '/b', '/a'].map((key) => page(key))
    const leader = await waiting([mortal(hitOf(increments[0]!))])
    await leaderStruck()
    const gate = network.close({ match: BATCH })
    const followers = await waiting(increments.slice(1).map((increment) => mortal(hitOf(increment))))
    expect([...(await leader.hangUp()), ...(await followers.hangUp())]).toEqual(increments.map(() => 'unknown'))
    await isolate.load()
    gate.open()
    // Longer than a request waits for the database. But it was not the database that kept them waiting.
    await new Promise((resolve) => setTimeout(resolve, 7_000))
    expect(await send(isolate.url, incrementOf(page('/late')))).toBe('counted')
    for (const increment of [...increments, page('/late')]) expected.record([increment], 'counted')
    await check()
  })

  it('and the leader ends with all of its work, its statement may arrive after that of its successor and many more', async () => {
    const gate = network.close({ match: BATCH, most: 1 })
    const leader = await waiting([mortal(hitOf(page('/leader')))])
    await gate.reached(1)
    // In the same range, so that it takes over.
    const answered = sendAll([page('/leader', 2)])
    await isolate.until(({ waiting }) => waiting === 2)
    expect(await leader.hangUp()).toEqual(['unknown'])
    await answered
    expected.record([page('/leader')], 'counted')
    for (let i = 0; i < 20; i++) await sendAll([page('/leader', 3)])
    expect(expected.number.counted).toBeGreaterThan(10)
    gate.open()
    await check()
  })

  it('and the database does not answer, the leader continues without its client for the waiting requests', async () => {
    await db.behave({ faults: [{ action: 'hang-answer', match: BATCH.source }] })
    const leader = await waiting([hitOf(page('/leader'))])
    await leaderStruck()
    const gate = network.close({ match: BATCH })
    const followers = Array.from({ length: 20 }, (_, i) => page(`/own/${i}`, 3))
    const answered = sendAll(followers)
    await isolate.until(({ waiting }) => waiting === 21)
    expected.record([page('/leader')], (await leader.hangUp())[0]!)
    gate.open()
    await answered
    await check()
  })

  it.each<[string, (key: string) => Message]>([
    [
      'sets a counter',
      (key) => ({ method: 'PUT', path: `/v1/counters/page_view/${key}`, headers: AUTHORIZED, body: { count: 5 } }),
    ],
    [
      'imports',
      (key) => ({
        method: 'POST',
        path: '/v1/imports',
        headers: AUTHORIZED,
        body: { counters: [{ type: 'page_view', key, count: 5 }] },
      }),
    ],
  ])('at any moment of a request that %s, the request is finished', async (_, request) => {
    const done = async () =>
      Number((await db.execute('SELECT COUNT(*) AS done FROM counter_adjustments')).rows[0]!.done)
    // One client hangs up while its first statement is in flight, the next one at its second, until a request has no more.
    for (let statement = 1; ; statement++) {
      const key = `hung-up-${statement}`
      const gate = network.close({ skip: statement - 1, most: 1 })
      const hangUp = Promise.withResolvers<void>()
      const status = statusOf(isolate.url, under(key, request(key)), hangUp.promise)
      const answered = await Promise.race([status, gate.reached(1).then(() => null)])
      expected.record([page(key, 5)], 'counted')
      if (answered !== null) {
        expect(answered).toBe(200)
        expect(statement).toBeGreaterThan(LEAST_STATEMENTS)
        gate.open()
        break
      }
      hangUp.resolve()
      expect(await status).toBe('unknown')
      // By its answer, the isolate has noticed that the client is gone.
      await isolate.load()
      gate.open()
      await expect.poll(done).toBe(statement)
    }
    await check()
  })
})

/** The sum of all slots. */
async function sumOf(db: FaultyDatabase): Promise<number> {
  const { rows } = await db.execute('SELECT COALESCE(SUM(count), 0) AS sum FROM slotted_counters')
  return Number(rows[0]!.sum)
}
