import { expect, it } from 'vitest'
import { onVitess } from '../harness/on-vitess.ts'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { rollUpBeside } from './faulty-database.ts'
import { Isolate } from './isolate.ts'
import { KillableServer, STARTS_OVER } from './killable-server.ts'
import { load } from './load.ts'
import { seededRandom } from './seeded-random.ts'
import { settleAndCheck } from './settle-and-check.ts'

// It starts a private server, without a vtgate.
it.skipIf(onVitess)(
  'When the database server is killed with -9 under load and restarted, acknowledged increments count once and the others at most once',
  { timeout: 300_000, retry: STARTS_OVER },
  async () => {
    const server = await KillableServer.start()
    const { db } = server
    const isolates = await Isolate.start(2, db.url, VISITS)
    const expected = new ExpectedCounts()
    const random = seededRandom()
    let over = false
    const killing = async () => {
      for (let kills = 1; kills <= 2; kills++) {
        const before = expected.number.counted
        await expect.poll(() => expected.number.counted, { timeout: 60_000 }).toBeGreaterThan(before + 800)
        await server.kill()
        await server.restart()
      }
      const before = expected.number.counted
      await expect.poll(() => expected.number.counted, { timeout: 60_000 }).toBeGreaterThan(before + 800)
    }
    const rolling = async () => {
      while (!over) await rollUpBeside(db, 50).catch(() => {})
    }
    await Promise.all([
      killing().finally(() => {
        over = true
      }),
      rolling(),
      load({ isolates, expected, random, clients: 48, enough: () => over, keyed: 0.3, pairs: 0.2 }),
    ])
    expect(expected.number.unknown + expected.number.refused).toBeGreaterThan(0)
    await settleAndCheck({ db, isolates, expected })
    console.log(expected.number)
  },
)
