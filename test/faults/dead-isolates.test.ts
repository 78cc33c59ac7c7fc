import { describe, expect, it } from 'vitest'
import { freshDatabase } from './database.ts'
import { Isolate } from './isolate.ts'
import { load } from './load.ts'
import { Random } from './random.ts'
import { Receipts } from './receipts.ts'
import { reckon } from './reckoning.ts'

describe('when isolates are killed with -9 under load', () => {
  it('everything acknowledged is there once, and what they were doing once or not at all', async () => {
    const db = await freshDatabase()
    const isolates = await Isolate.start(3, db.url)
    const receipts = new Receipts()
    const random = new Random()
    // Long enough on their way for some to be there when it happens.
    await db.behave({ latencyMs: 10 })
    let over = false
    const killing = async () => {
      for (let kills = 1; kills <= 6; kills++) {
        await expect.poll(() => receipts.size, { timeout: 60_000 }).toBeGreaterThan(500 * kills)
        await random.pick(isolates).replace()
      }
    }
    await Promise.all([
      killing().finally(() => {
        over = true
      }),
      load({ isolates, receipts, random, clients: 48, enough: () => over && receipts.size >= 4_000, keyed: 0.3 }),
    ])
    expect(receipts.number.unknown).toBeGreaterThan(0)
    await reckon({ db, isolates, receipts })
    console.log(receipts.number)
  })
})
