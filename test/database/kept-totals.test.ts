import { describe, expect, it } from 'vitest'
import type { Counter } from '../../src/counters/counter.ts'
import { KeptTotals } from '../../src/counters/kept-totals.ts'
import { SharedReads } from '../../src/counters/shared-reads.ts'
import type { Executor } from '../../src/database/database.ts'
import { freshDatabase } from '../harness/database.ts'

describe('totals that are kept', () => {
  it('do not outlast a roll-up that ends while they are being read', async () => {
    const db = await freshDatabase()
    await db.execute('INSERT INTO counter_totals VALUES (1, 1, 40, 3, NULL)')
    let answered = () => {}
    let mayReturn = Promise.resolve()
    const slow: Executor = {
      async execute(sql, args) {
        const result = await db.execute(sql, args)
        answered()
        await mayReturn
        return result
      },
    }
    const kept = new KeptTotals(new SharedReads(slow, { deadlineMs: 30_000, consistency: 'rolled' }))
    const counter: Counter = { recordType: 1, recordId: 1n, name: null }
    const read = async () => (await kept.read([counter], () => {}, { fresh: false })).readings[0]!.total

    const gate = Promise.withResolvers<void>()
    const reachedDatabase = Promise.withResolvers<void>()
    answered = reachedDatabase.resolve
    mayReturn = gate.promise
    const early = read()
    await reachedDatabase.promise
    await db.execute('UPDATE counter_totals SET count = 50')
    kept.forget()
    gate.resolve()
    expect(await early).toBe(40n)
    expect(await read()).toBe(50n)
    // That one is kept.
    await db.execute('UPDATE counter_totals SET count = 60')
    expect(await read()).toBe(50n)
  })
})
