import { describe, expect, it } from 'vitest'
import { rollUpBeside } from './database.ts'
import { Isolate } from './isolate.ts'
import { load } from './load.ts'
import { OwnServer } from './own-server.ts'
import { Random } from './random.ts'
import { Receipts } from './receipts.ts'
import { reckon } from './reckoning.ts'

describe('when the database server is killed with -9 under load, and started again', () => {
  it('everything acknowledged is there once, and what it was doing once or not at all', async () => {
    const server = await OwnServer.start()
    const { db } = server
    const isolates = await Isolate.start(2, db.url)
    const receipts = new Receipts()
    const random = new Random()
    let over = false
    const killing = async () => {
      for (let kills = 1; kills <= 2; kills++) {
        const before = receipts.number.counted
        await expect.poll(() => receipts.number.counted, { timeout: 60_000 }).toBeGreaterThan(before + 800)
        await server.kill()
        await server.startAgain()
      }
      const before = receipts.number.counted
      await expect.poll(() => receipts.number.counted, { timeout: 60_000 }).toBeGreaterThan(before + 800)
    }
    const rolling = async () => {
      while (!over) await rollUpBeside(db, 50).catch(() => {})
    }
    await Promise.all([
      killing().finally(() => {
        over = true
      }),
      rolling(),
      load({ isolates, receipts, random, clients: 48, enough: () => over, keyed: 0.3 }),
    ])
    expect(receipts.number.unknown + receipts.number.refused).toBeGreaterThan(0)
    await reckon({ db, isolates, receipts })
    console.log(receipts.number)
  })
})
