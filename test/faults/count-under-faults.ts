import { expect } from 'vitest'
import * as background from './background-tasks.ts'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import type { FaultyDatabase } from './faulty-database.ts'
import { Isolate } from './isolate.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import { Pruner } from './pruner.ts'
import { seededRandom } from './seeded-random.ts'
import { settleAndCheck } from './settle-and-check.ts'

const SETTINGS = { ...VISITS, PLAN: 'paid' }

/** How much to count, and what else goes wrong meanwhile. */
export interface FaultsOptions {
  increments: number
  more?: (world: background.World, expected: ExpectedCounts) => Promise<unknown>
}

/**
 * Counts with faults of all kinds, roll-ups and pruning all the time, until enough increments were sent. Then every counter must be
 * right.
 */
export async function countUnderFaults(db: FaultyDatabase, { increments, more }: FaultsOptions): Promise<void> {
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
    more?.(world, expected).finally(end),
  ])
  await settleAndCheck({ db, isolates, network, expected })
  console.log({ ...expected.number, increments: expected.increments, pruned: pruner.deleted })
  expect(pruner.deleted).toBeGreaterThan(0)
}
