import { describe, expect, it } from 'vitest'
import type { Fault } from '../../local/planetscale/fault-injection.ts'
import { addressOfKey } from '../../src/counters/counter-address.ts'
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

/** Errors of the server, by their numbers. */
function errors(...errnos: number[]): Fault[] {
  return errnos.map((errno) => ({ action: 'error', errno }))
}

describe('Acknowledged increments count once, refused ones do not count, and the others count at most once', () => {
  it.each<[string, Fault[]]>([
    ['answers are cut off after the commit', [{ action: 'cut-answer' }]],
    ['requests are cut off before the commit', [{ action: 'cut-request' }]],
    ['lock waits time out, and statements are deadlock victims or interrupted', errors(1205, 1213, 1317)],
    ['there are too many connections, the server has gone away, or connections are lost', errors(1040, 2006, 2013)],
    ['a proxy answers 502, 521 or 429', [502, 521, 429].map((status) => ({ action: 'html', status }))],
  ])('when %s', async (_, faults) => {
    await countThrough(async (world) => {
      // Each strikes names and increments, also more often in a row than the Worker retries.
      for (const fault of faults) await faulty(nowAndThen({ ...fault, match: '^INSERT' }, [1, 2, 4, 12]))(world)
    })
  })

  it.each<[string, Fault]>([
    ['requests never arrive', { action: 'hang-request' }],
    ['answers never arrive', { action: 'hang-answer' }],
  ])('when %s and the Worker gives up at its deadline', async (_, fault) => {
    await countThrough(faulty(nowAndThen({ ...fault, match: '^INSERT' }, [1, 3])))
  })

  it('when commits happen after the Worker has given up', async () => {
    await countThrough(async ({ db, expected }) => {
      await expect.poll(() => expected.size).toBeGreaterThan(500)
      await db.behave({ transactionMs: 60_000 })
      const { recordId } = await addressOfKey({ recordType: 1, key: 'string' }, '/hot/hit/1')
      // Several times if need be: clients that repeat their request until it is acknowledged are not told `unknown`.
      while (expected.number.unknown <= 5) {
        const before = expected.number.unknown
        // Batches that add to this counter wait for its lock. Names need none, without which a batch would not be sent.
        await db.transaction(async (transaction) => {
          await transaction.execute(
            'SELECT count FROM slotted_counters WHERE record_type = 1 AND record_id = ? FOR UPDATE',
            [recordId],
          )
          await expect.poll(() => expected.number.unknown).toBeGreaterThan(before)
        })
        const answered = expected.size
        await expect.poll(() => expected.size).toBeGreaterThan(answered + 100)
      }
      await db.behave()
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
