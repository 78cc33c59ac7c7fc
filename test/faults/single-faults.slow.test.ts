import { describe, expect, it } from 'vitest'
import type { Fault } from '../../local/planetscale/fault-injection.ts'
import type { Random } from '../harness/random.ts'
import { hitOf, send } from './client.ts'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { type FaultyDatabase, freshDatabase, nowAndThen } from './faulty-database.ts'
import type { Increment } from './increment.ts'
import { Isolate } from './isolate.ts'
import { keyOfEachRange } from './key-of-each-range.ts'
import { LateNetwork } from './late-network.ts'
import { load } from './load.ts'
import { seededRandom } from './seeded-random.ts'
import { canKill, killConnections } from './server-connections.ts'
import { settleAndCheck } from './settle-and-check.ts'
import { countMissingNames } from './stored-counts.ts'

const CLIENTS = 48
const REQUESTS = 1_500

/** Makes something fail while clients count. Settles when it has failed often enough. */
type Trouble = (world: World) => Promise<unknown>

interface World {
  db: FaultyDatabase
  network: LateNetwork
  random: Random
  expected: ExpectedCounts
}

/** Counts under load until the trouble is over and enough was sent, then checks all counters. */
async function countThrough(trouble: Trouble): Promise<void> {
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
function faulty(faults: Fault[]): Trouble {
  return async ({ db }) => {
    await db.behave({ faults })
    await expect.poll(() => db.strikesLeft(), { timeout: 60_000 }).toBe(0)
  }
}

describe('Acknowledged increments count once, refused ones do not count, and the others count at most once', () => {
  it.each<[string, Fault]>([
    ['answers are cut off after the commit', { action: 'cut-answer' }],
    ['requests are cut off before the commit', { action: 'cut-request' }],
    ['lock waits time out', { action: 'error', errno: 1205 }],
    ['statements are deadlock victims', { action: 'error', errno: 1213 }],
    ['there are too many connections', { action: 'error', errno: 1040 }],
    ['queries are interrupted', { action: 'error', errno: 1317 }],
    ['the server has gone away', { action: 'error', errno: 2006 }],
    ['connections are lost during queries', { action: 'error', errno: 2013 }],
    ['a proxy answers 502', { action: 'html', status: 502 }],
    ['a proxy answers 521', { action: 'html', status: 521 }],
    ['a proxy answers 429', { action: 'html', status: 429 }],
  ])('when %s', async (_, fault) => {
    // Strikes names and increments, also more often in a row than the Worker retries.
    await countThrough(faulty(nowAndThen({ ...fault, match: '^INSERT' }, [1, 2, 4, 12])))
  })

  it.each<[string, Fault]>([
    ['requests never arrive', { action: 'hang-request' }],
    ['answers never arrive', { action: 'hang-answer' }],
  ])('when %s and the Worker gives up at its deadline', async (_, fault) => {
    await countThrough(faulty(nowAndThen({ ...fault, match: '^INSERT' }, [1, 3])))
  })

  it('when commits happen after the Worker has given up', async () => {
    await countThrough(async ({ db, expected }) => {
      await expect.poll(() => expected.size, { timeout: 60_000 }).toBeGreaterThan(500)
      // Several times if need be: meanwhile the circuit breaker lets few statements through, and clients have not much patience.
      while (expected.number.unknown <= 5) {
        const before = expected.number.unknown
        // Half a second longer than a statement's deadline.
        await db.behave({ commitMs: 3_500 })
        await expect.poll(() => expected.number.unknown, { timeout: 30_000 }).toBeGreaterThan(before)
        await db.behave()
        const answered = expected.size
        await expect.poll(() => expected.size, { timeout: 30_000 }).toBeGreaterThan(answered + 100)
      }
    })
  })

  it('when statements whose connection was cut arrive late, after statements that were sent later', async () => {
    await countThrough(async ({ network, expected }) => {
      // So often that some statements are late at every attempt.
      network.late = 0.5
      await expect.poll(() => expected.number.unknown, { timeout: 60_000 }).toBeGreaterThan(5)
      await expect.poll(() => expected.size, { timeout: 60_000 }).toBeGreaterThan(REQUESTS)
      network.late = 0
      await network.settle()
      expect(network.arrived).toBeGreaterThan(10)
    })
  })

  it.skipIf(!canKill)('when the server ends connections in the middle of statements', async () => {
    await countThrough(async ({ db, random, expected }) => {
      await killConnections(db, random, (killed) => killed > 10 && expected.size >= REQUESTS)
    })
  })
})
