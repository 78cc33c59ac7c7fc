import { describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { Reads } from '../../../../src/counters/read/reads.ts'
import type { Executor } from '../../../../src/database/database.ts'
import { freshDatabase } from '../../../harness/database.ts'

describe('Cached totals', () => {
  it('are not kept if a roll-up ends while they are read', async () => {
    const db = await freshDatabase()
    await db.insert('totals', '(1, 1, 40, 3, NULL)')
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
    const reads = new Reads([slow], slow, 30_000)
    const counter: CounterAddress = { recordType: 1, recordId: 1n, name: '/1' }
    const read = async () => (await reads.totals([counter], { fresh: false, waitUntil: () => {} })).readings[0]!.total

    const gate = Promise.withResolvers<void>()
    const reachedDatabase = Promise.withResolvers<void>()
    answered = reachedDatabase.resolve
    mayReturn = gate.promise
    const early = read()
    await reachedDatabase.promise
    await db.arrange('UPDATE counters SET count = 50')
    reads.forget()
    gate.resolve()
    expect(await early).toBe(40n)
    expect(await read()).toBe(50n)
    // This one is kept.
    await db.arrange('UPDATE counters SET count = 60')
    expect(await read()).toBe(50n)
  })
})
