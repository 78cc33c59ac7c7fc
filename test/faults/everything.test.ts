import { describe, expect, it } from 'vitest'
import * as chaos from './chaos.ts'
import { killConnections } from './connections.ts'
import { type FaultyDatabase, freshDatabase } from './database.ts'
import { Isolate } from './isolate.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import { OwnServer } from './own-server.ts'
import { Pruner } from './pruner.ts'
import { Random } from './random.ts'
import { Receipts } from './receipts.ts'
import { reckon } from './reckoning.ts'

const SETTINGS = { ROLLUP: { page_slots: 200, max_statements: 200, max_seconds: 5 } }

/** Lets everything happen at once until so much was sent, then checks that every counter is right. */
async function everything(
  db: FaultyDatabase,
  { increments, more }: { increments: number; more: (world: chaos.World) => Promise<unknown> },
): Promise<void> {
  const random = new Random()
  const network = await LateNetwork.start(db.url, random)
  const isolates = await Isolate.start(3, network.url, SETTINGS)
  const receipts = new Receipts()
  const pruner = new Pruner()
  let over = false
  // Until something was pruned as well, however the machine shares out its time.
  const enough = () => (receipts.increments >= increments && pruner.deleted > 0) || over
  const world: chaos.World = { db, network, isolates, random, over: () => over }
  const counting = load({
    isolates,
    receipts,
    random,
    clients: 64,
    enough,
    keyed: 0.4,
    hangUps: 0.05,
    mortal: 0.02,
    onFinished: (key, parts) => pruner.finish(key, parts),
  })
  await Promise.all([
    counting.finally(() => {
      over = true
    }),
    chaos.misbehave(world),
    chaos.rollUpAllTheTime(world),
    chaos.rollUpAllTheTime(world),
    chaos.askForRollUps(world),
    chaos.killIsolates(world),
    chaos.readAllTheTime(world, receipts),
    chaos.adjustAllTheTime(world, receipts),
    chaos.pruneAllTheTime(world, pruner),
    more(world),
  ])
  await reckon({ db, isolates, network, receipts })
  console.log({ ...receipts.number, increments: receipts.increments, pruned: pruner.deleted })
  expect(pruner.deleted).toBeGreaterThan(0)
}

describe('with faults of all kinds, roll-ups and pruning all the time, every counter ends up right', () => {
  it('while the server ends connections', { timeout: 300_000 }, async () => {
    const db = await freshDatabase()
    await everything(db, { increments: 20_000, more: ({ random, over }) => killConnections(db, random, over) })
  })

  it('while the server dies and comes back', { timeout: 300_000 }, async () => {
    const server = await OwnServer.start()
    const more = async ({ over }: chaos.World) => {
      while (!over()) {
        await new Promise((resolve) => setTimeout(resolve, 5_000))
        await server.kill()
        await server.startAgain()
      }
    }
    await everything(server.db, { increments: 6_000, more })
  })
})
