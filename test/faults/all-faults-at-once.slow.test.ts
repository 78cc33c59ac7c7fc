import { describe, expect, it } from 'vitest'
import { onVitess } from '../harness/on-vitess.ts'
import * as background from './background-tasks.ts'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { type FaultyDatabase, freshDatabase } from './faulty-database.ts'
import { Isolate } from './isolate.ts'
import { KillableServer, STARTS_OVER } from './killable-server.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import { Pruner } from './pruner.ts'
import { seededRandom } from './seeded-random.ts'
import { canKill, killConnections } from './server-connections.ts'
import { settleAndCheck } from './settle-and-check.ts'

const SETTINGS = { ...VISITS, ROLLUP: { page_slots: 200, max_statements: 200, max_seconds: 5 } }

/** Requests that are counted after a start of the server before it is killed. */
const BETWEEN_KILLS = 400

/** Counts under all faults at once until enough increments were sent, then checks all counters. */
async function countUnderFaults(
  db: FaultyDatabase,
  {
    increments,
    more,
  }: { increments: number; more: (world: background.World, expected: ExpectedCounts) => Promise<unknown> },
): Promise<void> {
  const random = seededRandom()
  const network = await LateNetwork.start(db.url, random)
  const isolates = await Isolate.start(3, network.url, SETTINGS)
  const expected = new ExpectedCounts()
  const pruner = new Pruner()
  let over = false
  const end = () => {
    over = true
  }
  // Goes on until something was pruned as well, however the machine shares its time.
  const enough = () => (expected.increments >= increments && pruner.deleted > 0) || over
  const world: background.World = { db, network, isolates, random, over: () => over }
  const counting = load({
    isolates,
    expected,
    random,
    clients: 64,
    enough,
    keyed: 0.4,
    pairs: 0.2,
    hangUps: 0.05,
    mortal: 0.02,
    onFinished: (key, increments) => pruner.finish(key, increments),
  })
  await Promise.all([
    counting.finally(end),
    background.injectFaults(world),
    background.rollUpAllTheTime(world),
    background.rollUpAllTheTime(world),
    background.askForRollUps(world),
    background.killIsolates(world),
    background.readAllTheTime(world, expected),
    background.adjustAllTheTime(world, expected),
    background.pruneAllTheTime(world, pruner),
    more(world, expected).finally(end),
  ])
  await settleAndCheck({ db, isolates, network, expected })
  console.log({ ...expected.number, increments: expected.increments, pruned: pruner.deleted })
  expect(pruner.deleted).toBeGreaterThan(0)
}

describe('With faults of all kinds, roll-ups and pruning all the time, every counter ends up right', () => {
  it.skipIf(!canKill)('while the server ends connections', { timeout: 300_000 }, async () => {
    const db = await freshDatabase()
    await countUnderFaults(db, { increments: 10_000, more: ({ random, over }) => killConnections(db, random, over) })
  })

  // It starts a private server, without a vtgate.
  const options = { timeout: 300_000, retry: STARTS_OVER }
  it.skipIf(onVitess)('while the server dies and restarts', options, async () => {
    const server = await KillableServer.start()
    const more = async ({ over }: background.World, { number }: ExpectedCounts) => {
      for (let kills = 1; ; kills++) {
        const before = number.counted
        while (!over() && number.counted < before + BETWEEN_KILLS)
          await new Promise((resolve) => setTimeout(resolve, 50))
        if (over()) return console.log(`${kills - 1} kills`)
        await server.kill()
        await server.restart()
      }
    }
    await countUnderFaults(server.db, { increments: 6_000, more })
  })
})
