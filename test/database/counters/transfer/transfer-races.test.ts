import { beforeEach, expect, it } from 'vitest'
import { importCounts } from '../../../../src/counters/adjust/import-counts.ts'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { random63 } from '../../../../src/counters/random-id.ts'
import { DatabaseFailure } from '../../../../src/database/errors.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { interleaved } from '../../../harness/interleaved-database.ts'
import {
  countOn,
  countsOf,
  expectExact,
  finishTransfer,
  rollUpAt,
  rowsOf,
  sendTransfer,
} from '../../../harness/transfers.ts'

// The second half of the ids is in another range than the first.
const A: CounterAddress = { recordType: 1, recordId: 2n ** 62n, name: '/a' }
const B: CounterAddress = { recordType: 1, recordId: 2n ** 63n + 5n, name: '/b' }
const C: CounterAddress = { recordType: 1, recordId: 2n ** 62n + 1n, name: '/c' }

const CREATE_TOTAL = /INSERT IGNORE INTO counter_totals/
const STORE_NAME = /AS gone FROM counter_names/
const READ_SOURCE = /'total' AS part, version AS id/
const WRITE_RECORD = /INSERT INTO counter_transfers/
const END_RECORD = /(UPDATE|DELETE FROM) counter_transfers/
const FORGET_ARRIVALS = /DELETE FROM counter_adjustments[\s\S]*count = 0/

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
  await ensureNames(db, [A, B], db.ranges)
})

/** A failure after which a request gives up. */
const fail = async () => {
  throw new DatabaseFailure({ kind: 'schema', retry: false, applied: 'no' }, new Error('thrown by the test'))
}
const keyed = () => ({ id: random63(), keyed: true })

/** Counts, and makes totals. */
async function fill(...counters: CounterAddress[]): Promise<void> {
  for (const counter of counters) await countOn(db, counter, 5n)
  await rollUpAt(db)
}

it('A counter without a total does not leave twice', async () => {
  await countOn(db, A, 5n)
  const meanwhile = interleaved(db, CREATE_TOTAL, async () => {
    await rollUpAt(db)
    await finishTransfer(db, A, { kind: 'rename', target: B })
  })
  expect(await sendTransfer(meanwhile, A)).toBe('done')
  expect(await countsOf(db, [A, B])).toEqual([0n, 5n])
  await expectExact(db)
})

it('A parcel does not arrive twice at a target without a total', async () => {
  await fill(A)
  await countOn(db, B, 1n)
  const merge = { kind: 'merge', target: B } as const
  const meanwhile = interleaved(db, CREATE_TOTAL, async () => {
    await finishTransfer(db, A, merge)
    expect(await countsOf(db, [A, B])).toEqual([0n, 6n])
    await finishTransfer(db, B)
  })
  expect(await sendTransfer(meanwhile, A, merge)).toBe('done')
  expect(await countsOf(db, [A, B])).toEqual([0n, 0n])
  await expectExact(db)
})

it('One key for two sources with the same target moves both', async () => {
  await fill(A, B, C)
  const merge = { kind: 'merge', target: B, ...keyed() } as const
  const meanwhile = interleaved(db, END_RECORD, () => finishTransfer(db, C, merge))
  expect(await sendTransfer(meanwhile, A, merge)).toBe('done')
  expect(await countsOf(db, [A, B, C])).toEqual([0n, 15n, 0n])
  expect(await sendTransfer(db, A, merge)).toBe('repeated')
  await expectExact(db)
})

it('A repeat deletes what the target keeps of a transfer', async () => {
  await fill(A, B)
  const merge = { kind: 'merge', target: B, ...keyed() } as const
  await expect(sendTransfer(interleaved(db, FORGET_ARRIVALS, fail), A, merge)).rejects.toThrow('thrown by the test')
  expect(await rowsOf(db, B)).toHaveProperty('counter_transfers')
  expect(await sendTransfer(db, A, merge)).toBe('repeated')
  expect(await rowsOf(db, B)).not.toHaveProperty('counter_transfers')
})

it('A counter keeps its name until its parcel has arrived. A request with another key goes on', async () => {
  await fill(A)
  const rename = { kind: 'rename', target: B } as const
  // Its count has left, so the client must not be told that nothing was changed.
  await expect(sendTransfer(interleaved(db, STORE_NAME, fail), A, { ...rename, ...keyed() })).rejects.toMatchObject({
    applied: 'unknown',
  })
  expect(await countsOf(db, [A, B])).toEqual([0n, 0n])
  expect(await rowsOf(db, A)).toMatchObject({ counter_names: 1, counter_totals: 1 })
  await expectExact(db)
  expect(await sendTransfer(db, A, { ...rename, ...keyed() })).toBe('done')
  expect(await countsOf(db, [A, B])).toEqual([0n, 5n])
  // The first request's key, and an empty slot.
  expect(await rowsOf(db, A)).toEqual({ slotted_counters: 1, counter_transfers: 1 })
  await expectExact(db)
})

it('A request without a key goes on with one that has a key, and is done', async () => {
  await fill(A, B)
  const merge = { kind: 'merge', target: B } as const
  await expect(sendTransfer(interleaved(db, STORE_NAME, fail), A, { ...merge, ...keyed() })).rejects.toThrow()
  expect(await sendTransfer(db, A, merge)).toBe('done')
  expect(await countsOf(db, [A, B])).toEqual([0n, 10n])
})

it.each(['delete', 'merge'] as const)('Two requests to %s with the same key take the counter once', async (kind) => {
  await fill(A, B)
  const asked = { kind, target: kind === 'delete' ? null : B, ...keyed() }
  const meanwhile = interleaved(db, READ_SOURCE, async () => {
    await finishTransfer(db, A, asked)
    await countOn(db, A, 2n)
  })
  expect(await sendTransfer(meanwhile, A, asked)).toBe('repeated')
  expect(await countsOf(db, [A, B])).toEqual([2n, kind === 'delete' ? 5n : 10n])
  await rollUpAt(db)
  await expectExact(db)
})

it.each([true, false])('A rename of unknown outcome does not become a merge (with a key: %s)', async (withKey) => {
  await fill(A)
  const rename = { kind: 'rename', target: B, ...(withKey && keyed()) } as const
  const meanwhile = interleaved(db, WRITE_RECORD, async () => {
    await countOn(db, B, 1n)
    throw new TypeError('lost by the test')
  })
  const outcome = await sendTransfer(meanwhile, A, rename).catch((error: unknown) => error)
  if (withKey) expect(outcome).toMatchObject({ reason: 'counter_exists' })
  else expect(outcome === 'unfinished' || (outcome as DatabaseFailure).applied === 'unknown').toBe(true)
  expect(await countsOf(db, [A, B])).toEqual([5n, 1n])
})

it('A request for the target that ends a transfer deletes the name of the source', async () => {
  await fill(A, B)
  const ending = interleaved(db, END_RECORD, fail)
  await expect(sendTransfer(ending, A, { kind: 'merge', target: B })).rejects.toThrow('thrown by the test')
  expect(await rowsOf(db, A)).toHaveProperty('counter_names')
  await finishTransfer(db, B, { kind: 'rename', target: C })
  expect(await countsOf(db, [A, B, C])).toEqual([0n, 0n, 10n])
  expect(await rowsOf(db, A)).toEqual({ slotted_counters: 1 })
})

it('A merge first finishes the transfer of its target to another counter', async () => {
  await fill(A, B)
  const stranded = interleaved(db, STORE_NAME, fail)
  await expect(sendTransfer(stranded, B, { kind: 'rename', target: C })).rejects.toThrow('thrown by the test')
  await countOn(db, B, 1n)
  await finishTransfer(db, A, { kind: 'merge', target: B })
  expect(await countsOf(db, [A, B, C])).toEqual([0n, 6n, 5n])
  expect(await db.number('SELECT COUNT(*) FROM counter_transfers')).toBe(0n)
  await expectExact(db)
})

it('Adjustments after the beginning of a deletion do not hide the earlier ones', async () => {
  const rows = Array.from({ length: 200 }, (_, i) => {
    return { counter: A, count: 1n, day: new Date(Date.UTC(2025, 0, 1 + i)) }
  })
  const id = 2n ** 40n
  await importCounts({ db, totals: null }, rows, { id, at: new Date(Date.now() - 60_000) })
  expect(await sendTransfer(db, A)).toBe('unfinished')
  const later = Array.from({ length: 502 }, (_, i) => `(1, ${A.recordId}, ${i + 1}, 1, NOW() + INTERVAL 2 DAY, 0)`)
  await db.arrange(
    `INSERT INTO counter_adjustments (record_type, record_id, adjustment_id, kind, adjusted_at, count) VALUES ${later}`,
  )
  await finishTransfer(db, A)
  expect(await rowsOf(db, A)).toMatchObject({ counter_adjustments: 502 })
  expect(await db.number(`SELECT COUNT(*) FROM counter_adjustments WHERE adjustment_id = ${id}`)).toBe(0n)
  await expectExact(db)
})

it('A deletion that rolls slots up first does not wait for the lock of the total', async () => {
  await fill(A)
  const slots = Array.from({ length: 1_100 }, (_, i) => `(1, ${A.recordId}, ${i}, 2, ${i + 1}, 0)`)
  await db.arrange(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES ${slots}`,
  )
  await db.transaction(async (transaction) => {
    await transaction.execute(
      `SELECT 1 FROM counter_totals WHERE record_type = 1 AND record_id = ${A.recordId} FOR UPDATE`,
    )
    // It gives up; a wait would end with a failure.
    expect(await sendTransfer(db, A)).toBe('unfinished')
  })
})
