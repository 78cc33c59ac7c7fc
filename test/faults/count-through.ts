import { expect } from 'vitest'
import type { Fault } from '../../local/planetscale/fault-injection.ts'
import type { Random } from '../harness/random.ts'
import { hitOf, send } from './client.ts'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { type FaultyDatabase, freshDatabase } from './faulty-database.ts'
import type { Increment } from './increment.ts'
import { Isolate } from './isolate.ts'
import { keyOfEachRange } from './key-of-each-range.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import { seededRandom } from './seeded-random.ts'
import { settleAndCheck } from './settle-and-check.ts'
import { countMissingNames } from './stored-counts.ts'

const CLIENTS = 48
/** Requests that are sent while something fails, at least. */
export const REQUESTS = 1_500

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
  await checkNames(db, isolates, expected)
  await settleAndCheck({ db, isolates, network, expected })
  console.log(expected.number)
}

/** Checks that names which could not be stored are stored with the next increments of their range. */
async function checkNames(db: FaultyDatabase, isolates: readonly Isolate[], expected: ExpectedCounts): Promise<void> {
  const increments = (await keyOfEachRange('/last')).map((key): Increment => ({ type: 'page_view', key, by: 1 }))
  const missing = async () => {
    for (const { url } of isolates) {
      for (const increment of increments) expected.record([increment], await send(url, hitOf(increment)))
    }
    return countMissingNames(db)
  }
  await expect.poll(missing).toBe(0)
}

/** Injects faults until all have struck. */
export function faulty(faults: Fault[]): Trouble {
  return async ({ db }) => {
    await db.behave({ faults })
    await expect.poll(() => db.strikesLeft(), { timeout: 60_000 }).toBe(0)
  }
}
