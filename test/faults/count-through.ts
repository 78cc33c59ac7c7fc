import { expect } from 'vitest'
import type { Fault } from '../../local/planetscale/fault-injection.ts'
import type { Random } from '../harness/random.ts'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { type FaultyDatabase, freshDatabase } from './faulty-database.ts'
import { Isolate } from './isolate.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import { seededRandom } from './seeded-random.ts'
import { settleAndCheck } from './settle-and-check.ts'

const CLIENTS = 48
/** Requests that are sent while something fails and after it, at least. */
export const REQUESTS = 500

/** Makes something fail while clients count. Settles when it has failed often enough. */
export type Trouble = (world: World) => Promise<unknown>

interface World {
  db: FaultyDatabase
  network: LateNetwork
  random: Random
  expected: ExpectedCounts
}

/** Counts under load until the trouble is over and enough was sent, then checks all counters. */
export async function countThrough(trouble: Trouble): Promise<void> {
  const db = await freshDatabase()
  const random = seededRandom()
  const network = await LateNetwork.start(db.url, random)
  const isolates = await Isolate.start(2, network.url, VISITS)
  const expected = new ExpectedCounts()
  let over = false
  const enough = () => over && expected.size >= REQUESTS
  const troubled = trouble({ db, network, random, expected }).finally(() => {
    over = true
  })
  await Promise.all([troubled, load({ isolates, expected, random, clients: CLIENTS, enough, keyed: 0.2, pairs: 0.2 })])
  await Promise.all(isolates.map((isolate) => isolate.idle()))
  await settleAndCheck({ db, isolates, network, expected })
  console.log(expected.number)
}

/** Injects faults until all have struck. */
export function faulty(faults: Fault[]): Trouble {
  return async ({ db }) => {
    await db.behave({ faults })
    await expect.poll(() => db.strikesLeft(), { timeout: 60_000 }).toBe(0)
  }
}
