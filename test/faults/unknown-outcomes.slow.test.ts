import { describe, expect, it } from 'vitest'
import type { Fault } from '../../local/planetscale/fault-injection.ts'
import { addressOfKey } from '../../src/counters/keys/counter-address.ts'
import { countThrough, faulty, REQUESTS } from './count-through.ts'
import { nowAndThen } from './faulty-database.ts'
import { BATCH } from './late-network.ts'
import { canKill, killConnections } from './server-connections.ts'

describe('Acknowledged increments count once, refused ones do not count, and the others count at most once', () => {
  it.each<[string, Fault]>([
    ['requests never arrive', { action: 'hang-request' }],
    ['answers never arrive', { action: 'hang-answer' }],
  ])('when %s and the Worker gives up at its deadline', async (_, fault) => {
    await countThrough(faulty(nowAndThen({ ...fault, match: BATCH.source }, [1, 3])))
  })

  it('when commits happen after the Worker has given up', async () => {
    await countThrough(async ({ db, expected }) => {
      await expect.poll(() => expected.size).toBeGreaterThan(500)
      await db.behave({ transactionMs: 60_000 })
      const { recordId } = await addressOfKey({ recordType: 1 }, '/hot/hit/1')
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
      await expect.poll(() => network.arrived).toBeGreaterThan(10)
      network.late = 0
    })
  })

  it.skipIf(!canKill)('when the server ends connections in the middle of statements', async () => {
    await countThrough(async ({ db, random, expected }) => {
      await killConnections(db, random, (killed) => killed > 10 && expected.size >= REQUESTS)
    })
  })
})
