import { beforeAll, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { applyBatch } from '../../../../src/counters/ledger/slots.ts'
import type { Increment } from '../../../../src/counters/write/increment-group.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { makeBatch } from '../../../harness/make-batch.ts'
import { countAll, countsOf } from '../../../harness/moves.ts'

const counter = (recordId: bigint, recordType = 1): CounterAddress => ({ recordType, recordId, name: `/${recordId}` })
const add = (recordId: bigint, by: bigint): Increment => ({ counter: counter(recordId), by })

describe('A batch', () => {
  let db: TestDatabase
  const countOf = async (recordId: bigint) => (await countsOf(db, [counter(recordId)]))[0]!
  beforeAll(async () => {
    db = await freshDatabase()
  })

  it('that is applied twice counts once, row by row', async () => {
    const batch = makeBatch(11n, [add(1n, 5n), add(2n, 7n)], 100n)
    await applyBatch(db, batch, 24)
    await applyBatch(db, batch, 24)
    // As if the first attempt had been committed on one shard only.
    await countAll(db, [add(1n, 5n), add(3n, 9n)], 11n, 100n)
    expect([await countOf(1n), await countOf(2n), await countOf(3n)]).toEqual([5n, 7n, 9n])
  })

  it('keeps the slot of a writer for an hour, and that of a key for the hours of idempotency', async () => {
    const hour = () => db.number('SELECT FLOOR(UNIX_TIMESTAMP() / 3600)')
    const kept = (slot: bigint) => db.number('SELECT kept_until FROM slotted_counters WHERE slot = ?', [slot])
    const began = await hour()
    await applyBatch(db, makeBatch(31n, [add(60n, 1n)], 600n), 24)
    await applyBatch(db, makeBatch(601n, [add(60n, 1n)], 601n), 24)
    const hours = [began, await hour()]
    expect(hours.map((at) => [at + 1n, at + 24n])).toContainEqual([await kept(600n), await kept(601n)])
  })

  it('leaves out counters whose increments cancel out, and sends nothing if none is left', async () => {
    const batch = makeBatch(14n, [add(30n, 4n), add(30n, -4n)], 1n)
    expect(batch).toEqual([])
    const statements = await db.recording(() => applyBatch(db, batch, 24))
    expect(statements).toEqual([])
  })

  it('is exact beyond 2^31 and 2^53, and below zero', async () => {
    const large = 2n ** 53n - 1n
    for (let id = 20n; id < 24n; id++) await countAll(db, [add(40n, large)], id, 1n)
    await countAll(db, [add(41n, -5_000_000_000n)], 30n, 1n)
    expect(await countOf(40n)).toBe(4n * large)
    expect(await countOf(41n)).toBe(-5_000_000_000n)
  })

  it('distinguishes 64-bit ids to the last bit', async () => {
    const high = 2n ** 64n - 1n
    await countAll(db, [add(high, 1n), add(high - 1n, 2n)], high, high)
    await applyBatch(db, makeBatch(high - 1n, [add(high, 1n), add(high - 1n, 2n)], high), 24)
    expect([await countOf(high), await countOf(high - 1n), await countOf(high - 2n)]).toEqual([2n, 4n, 0n])
  })

  it('is refused as a whole if a slot would leave 64 bits', async () => {
    const near = 2n ** 63n - 1n
    await db.insert('slotted_counters', '(1, 50, 1, ?, 1, 0)', [near])
    const batch = makeBatch(60n, [add(49n, 1n), add(50n, 1n)], 1n)
    await expect(applyBatch(db, batch, 24)).rejects.toMatchObject({ kind: 'range', applied: 'no' })
    expect(await countOf(49n)).toBe(0n)
    expect(await countOf(50n)).toBe(near)
  })
})
