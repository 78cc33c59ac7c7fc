import { beforeEach, describe, expect, it } from 'vitest'
import { hitOf, incrementOf, type Message, mortal, send, sendAndLeave, TOKEN, under } from './client.ts'
import { type FaultyDatabase, freshDatabase } from './database.ts'
import { Isolate } from './isolate.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import type { Part } from './part.ts'
import { Random } from './random.ts'
import { Receipts } from './receipts.ts'
import { reckon } from './reckoning.ts'

const MANY = 300
const BATCH = String.raw`IF\(batch`

describe('when clients hang up', () => {
  let db: FaultyDatabase
  let isolate: Isolate
  let random: Random
  let receipts: Receipts
  let network: LateNetwork
  const page = (key: string, by = 1): Part => ({ type: 'page_view', key, by })

  beforeEach(async () => {
    db = await freshDatabase()
    random = new Random()
    network = await LateNetwork.start(db.url, random)
    const [first] = await Isolate.start(1, network.url)
    isolate = first!
    receipts = new Receipts()
  })

  /** Sends from clients that all hang up when told to, and waits until all of it has reached the isolate. */
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

  /** Books what their senders are told. They may have waited for too long by the time that somebody takes over. */
  const bookAll = async (parts: readonly Part[]) => {
    const fates = await Promise.all(parts.map((part) => send(isolate.url, incrementOf(part))))
    for (const [i, part] of parts.entries()) receipts.book([part], fates[i]!)
  }

  const check = () => reckon({ db, isolates: [isolate], network, receipts })

  it('300 that had sent all of their hit are all counted, the leader and its followers', async () => {
    await db.behave({ latencyMs: 2_500 })
    const parts = Array.from({ length: MANY }, (_, i) => page(i % 3 === 0 ? '/hot' : `/own/${i}`))
    const clients = await waiting(parts.map(hitOf))
    expect(await clients.hangUp()).toEqual(parts.map(() => 'unknown'))
    await db.behave()
    for (const part of parts) receipts.book([part], 'counted')
    await check()
  })

  it('300 that close their connection at once are all counted', async () => {
    const parts = Array.from({ length: MANY }, (_, i) => page(i % 3 === 0 ? '/hot' : `/own/${i}`))
    await Promise.all(parts.map((part) => sendAndLeave(isolate.port, hitOf(part), { by: 'FIN', afterMs: 0 })))
    for (const part of parts) receipts.book([part], 'counted')
    await expect.poll(() => sumOf(db), { timeout: 20_000 }).toBe(MANY)
    await check()
  })

  it('with RST at once or a moment later, every hit that the Worker was handed is counted once, the first included', async () => {
    const part = page('/pixel')
    const pixel: Message = { method: 'GET', path: '/hit.gif?type=page_view&key=/pixel' }
    const { begun: before } = await isolate.load()
    const begun = async () => (await isolate.load()).begun - before
    // Of those that have left before it gets to them, workerd tells the Worker nothing.
    for (const giveUpAt = Date.now() + 30_000; (await begun()) < MANY && Date.now() < giveUpAt; ) {
      const sent = Array.from({ length: MANY }, () =>
        sendAndLeave(isolate.port, pixel, { by: 'RST', afterMs: random.between(0, 20) }),
      )
      await Promise.all(sent)
    }
    await expect.poll(async () => (await sumOf(db)) - (await begun()), { timeout: 20_000 }).toBe(0)
    for (let left = await begun(); left > 0; left--) receipts.book([part], 'counted')
    expect(receipts.size).toBeGreaterThanOrEqual(MANY)
    await check()
  })

  it.each(['hang-request', 'hang-answer'] as const)(
    'the leader with all of its work, after %s, another one takes its place, and its hit is counted once',
    async (action) => {
      await db.behave({ faults: [{ action, match: BATCH }] })
      const leader = await waiting([mortal(hitOf(page('/leader')))])
      const followers = Array.from({ length: 20 }, (_, i) => page(i % 2 === 0 ? '/leader' : `/own/${i}`, 3))
      const answered = bookAll(followers)
      await isolate.until(({ waiting }) => waiting === 21)
      expect(await leader.hangUp()).toEqual(['unknown'])
      await answered
      receipts.book([page('/leader')], 'counted')
      await check()
    },
  )

  it('the leader and all that waited for it, whoever comes much later is counted, and so are they', async () => {
    await db.behave({ faults: [{ action: 'hang-request', match: BATCH }] })
    const parts = ['/leader', '/a', '/b', '/a'].map((key) => page(key))
    const leader = await waiting([mortal(hitOf(parts[0]!))])
    const followers = await waiting(parts.slice(1).map((part) => mortal(hitOf(part))))
    expect([...(await leader.hangUp()), ...(await followers.hangUp())]).toEqual(parts.map(() => 'unknown'))
    // Longer than a request waits for the database: but it is not the database that kept them waiting.
    await new Promise((resolve) => setTimeout(resolve, 7_000))
    expect(await send(isolate.url, incrementOf(page('/late')))).toBe('counted')
    for (const part of [...parts, page('/late')]) receipts.book([part], 'counted')
    await check()
  })

  it('the leader with all of its work, and its statement arrives after that of its successor and many more', async () => {
    const letGo = network.holdNext()
    const leader = await waiting([mortal(hitOf(page('/leader')))])
    const answered = bookAll([page('/follower')])
    await isolate.until(({ waiting }) => waiting === 2)
    expect(await leader.hangUp()).toEqual(['unknown'])
    await answered
    receipts.book([page('/leader')], 'counted')
    for (let i = 0; i < 20; i++) await bookAll([page('/leader', 3)])
    expect(receipts.number.counted).toBeGreaterThan(10)
    letGo()
    await check()
  })

  it('the leader while the database does not answer, it goes on without its client for those that wait', async () => {
    await db.behave({ faults: [{ action: 'hang-answer', match: BATCH }] })
    const leader = await waiting([hitOf(page('/leader'))])
    const followers = Array.from({ length: 20 }, (_, i) => page(`/own/${i}`, 3))
    const answered = bookAll(followers)
    await isolate.until(({ waiting }) => waiting === 21)
    receipts.book([page('/leader')], (await leader.hangUp())[0]!)
    await answered
    await check()
  })

  it.each([
    ['sets a counter', (i: number) => ['PUT', `/v1/counters/page_view/hung-up-${i}`, { count: 5 }] as const],
    [
      'imports',
      (i: number) =>
        ['POST', '/v1/imports', { counters: [{ type: 'page_view', key: `hung-up-${i}`, count: 5 }] }] as const,
    ],
  ])('on a request that %s, at any moment, it is finished all the same', async (_, request) => {
    const moments = 12
    await db.behave({ latencyMs: 100 })
    const leaving = Array.from({ length: moments }, async (_, i) => {
      const [method, path, body] = request(i)
      const message = under(`${i}`, { method, path, headers: { Authorization: `Bearer ${TOKEN}` }, body })
      await sendAndLeave(isolate.port, message, { by: 'RST', afterMs: 50 + 75 * i })
    })
    await Promise.all(leaving)
    const done = async () =>
      Number((await db.execute('SELECT COUNT(*) AS done FROM counter_adjustments')).rows[0]!.done)
    await expect.poll(done, { timeout: 20_000 }).toBe(moments)
    await db.behave()
    for (let i = 0; i < moments; i++) receipts.book([page(`hung-up-${i}`, 5)], 'counted')
    await check()
  })

  it('at any moment under load, sometimes with all of their work, everything acknowledged is there once', async () => {
    const enough = () => receipts.size >= 3_000
    await load({ isolates: [isolate], receipts, random, clients: 48, enough, keyed: 0.2, hangUps: 0.3, mortal: 0.02 })
    expect(receipts.number.unknown).toBeGreaterThan(100)
    await check()
    console.log(receipts.number)
  })
})

/** What all counters say together. */
async function sumOf(db: FaultyDatabase): Promise<number> {
  const { rows } = await db.execute('SELECT COALESCE(SUM(count), 0) AS sum FROM slotted_counters')
  return Number(rows[0]!.sum)
}
