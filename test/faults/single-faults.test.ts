import { describe, expect, it } from 'vitest'
import type { Fault } from '../../local/planetscale/behaviour.ts'
import { hitOf, send } from './client.ts'
import { killConnections } from './connections.ts'
import { type FaultyDatabase, freshDatabase, nowAndThen } from './database.ts'
import { Isolate } from './isolate.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import type { Part } from './part.ts'
import { Random } from './random.ts'
import { namesMissing, Receipts } from './receipts.ts'
import { reckon } from './reckoning.ts'

const CLIENTS = 48
const REQUESTS = 1_500

/** What goes wrong while clients count; settles when it has done so often enough. */
type Trouble = (world: World) => Promise<unknown>

interface World {
  db: FaultyDatabase
  network: LateNetwork
  random: Random
  receipts: Receipts
}

/** Counts under load until the trouble is over and enough was sent, and checks what became of everything. */
async function countThrough(trouble: Trouble): Promise<void> {
  const db = await freshDatabase()
  const random = new Random()
  const network = await LateNetwork.start(db.url, random)
  const isolates = await Isolate.start(2, network.url)
  const receipts = new Receipts()
  let over = false
  const enough = () => over && receipts.size >= REQUESTS
  const troubled = trouble({ db, network, random, receipts }).finally(() => {
    over = true
  })
  await Promise.all([troubled, load({ isolates, receipts, random, clients: CLIENTS, enough, keyed: 0.2 })])
  await Promise.all(isolates.map((isolate) => isolate.idle()))
  await allNamed(db, isolates, receipts)
  await reckon({ db, isolates, network, receipts })
  console.log(receipts.number)
}

/** Checks that names which could not be stored are stored with what is counted next. */
async function allNamed(db: FaultyDatabase, isolates: readonly Isolate[], receipts: Receipts): Promise<void> {
  const part: Part = { type: 'page_view', key: '/last', by: 1 }
  const missing = async () => {
    for (const { url } of isolates) receipts.book([part], await send(url, hitOf(part)))
    return namesMissing(db)
  }
  await expect.poll(missing, { timeout: 10_000 }).toBe(0)
}

/** Faults, until all have struck. */
function faulty(faults: Fault[]): Trouble {
  return async ({ db }) => {
    await db.behave({ faults })
    await expect.poll(() => db.strikesLeft(), { timeout: 60_000 }).toBe(0)
  }
}

describe('everything acknowledged is there once, nothing twice, and nothing that was refused', () => {
  it.each<[string, Fault]>([
    ['answers are cut off after the commit', { action: 'cut-answer' }],
    ['requests are cut off before the commit', { action: 'cut-request' }],
    ['locks are waited for too long', { action: 'error', errno: 1205 }],
    ['statements are victims of deadlocks', { action: 'error', errno: 1213 }],
    ['there are too many connections', { action: 'error', errno: 1040 }],
    ['queries are interrupted', { action: 'error', errno: 1317 }],
    ['the server has gone away', { action: 'error', errno: 2006 }],
    ['connections are lost during queries', { action: 'error', errno: 2013 }],
    ['a proxy answers that the gateway is bad', { action: 'html', status: 502 }],
    ['a proxy answers that it did not get through', { action: 'html', status: 521 }],
    ['a proxy answers that there are too many requests', { action: 'html', status: 429 }],
  ])('when %s', async (_, fault) => {
    // Of names and of increments, and more often in a row than anything is tried again.
    await countThrough(faulty(nowAndThen({ ...fault, match: '^INSERT' }, [1, 2, 4, 12])))
  })

  it.each<[string, Fault]>([
    ['requests never arrive', { action: 'hang-request' }],
    ['answers never come', { action: 'hang-answer' }],
  ])('when %s, and all are given up at their deadline', async (_, fault) => {
    await countThrough(faulty(nowAndThen({ ...fault, match: '^INSERT' }, [1, 3])))
  })

  it('when commits come after everybody has given up', async () => {
    await countThrough(async ({ db, receipts }) => {
      await expect.poll(() => receipts.size, { timeout: 60_000 }).toBeGreaterThan(500)
      // Half a second longer than a statement's deadline.
      await db.behave({ commitMs: 3_500 })
      await expect.poll(() => receipts.number.unknown, { timeout: 60_000 }).toBeGreaterThan(5)
      await db.behave()
    })
  })

  it('when statements whose connection was cut arrive late all the same, after what was sent since', async () => {
    await countThrough(async ({ network, receipts }) => {
      // Often enough for some to be late each time that they are sent.
      network.late = 0.5
      await expect.poll(() => receipts.number.unknown, { timeout: 60_000 }).toBeGreaterThan(5)
      await expect.poll(() => receipts.size, { timeout: 60_000 }).toBeGreaterThan(REQUESTS)
      network.late = 0
      await network.settle()
      expect(network.arrived).toBeGreaterThan(10)
    })
  })

  it('when the server ends connections in the middle of statements', async () => {
    await countThrough(async ({ db, random, receipts }) => {
      const killed = await killConnections(db, random, () => receipts.size >= REQUESTS)
      expect(killed).toBeGreaterThan(10)
    })
  })
})
