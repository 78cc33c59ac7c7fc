import { expect, it } from 'vitest'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { freshDatabase } from './faulty-database.ts'
import { Isolate } from './isolate.ts'
import { load } from './load.ts'
import { seededRandom } from './seeded-random.ts'
import { settleAndCheck } from './settle-and-check.ts'

it('When isolates are killed with -9 under load, acknowledged increments count once and the others at most once', async () => {
  const db = await freshDatabase()
  const isolates = await Isolate.start(3, db.url, VISITS)
  const expected = new ExpectedCounts()
  const random = seededRandom()
  // Keeps requests in flight long enough for a kill to hit some of them.
  await db.behave({ latencyMs: 10 })
  let over = false
  const killing = async () => {
    for (let kills = 1; kills <= 6; kills++) {
      await expect.poll(() => expected.size, { timeout: 60_000 }).toBeGreaterThan(500 * kills)
      await random.pick(isolates).replace()
    }
  }
  await Promise.all([
    killing().finally(() => {
      over = true
    }),
    load({
      isolates,
      expected,
      random,
      clients: 48,
      enough: () => over && expected.size >= 4_000,
      keyed: 0.3,
      pairs: 0.2,
    }),
  ])
  expect(expected.number.unknown).toBeGreaterThan(0)
  await settleAndCheck({ db, isolates, expected })
  console.log(expected.number)
})
