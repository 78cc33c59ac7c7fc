import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { addressOfKey, type KeyedType } from '../../../../src/counters/keys/key-address.ts'
import { type FlushContext, SlotPool } from '../../../../src/counters/write/flush-group.ts'
import { GroupCommit } from '../../../../src/counters/write/group-commit.ts'
import type { Increment } from '../../../../src/counters/write/increment-group.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { countsOf } from '../../../harness/moves.ts'
import { countingLoad } from '../../../harness/worker-load.ts'

const page: KeyedType = { recordType: 1 }
const classic: KeyedType = { recordType: 2 }

describe('Group commit', () => {
  let db: TestDatabase
  let here: GroupCommit
  const leading: Promise<unknown>[] = []

  /** A new isolate. */
  const isolate = ({ deadlineMs = 10_000, ...overrides }: Partial<FlushContext> = {}): GroupCommit =>
    new GroupCommit({
      db: db.open({ deadlineMs }),
      deadlineMs,
      classicSlots: new Map([[classic.recordType, 4]]),
      slots: new SlotPool(),
      idempotencyHours: 24,
      queue: null,
      ...overrides,
    })
  const count = async (increments: readonly Increment[], on = here) =>
    on.count(increments, { waitUntil: (work) => leading.push(work) })
  const hit = async (key: string, { by = 1n, type = page, on = here } = {}) =>
    count([{ counter: await addressOfKey(type, key), by }], on)
  const countOf = async (key: string, type = page) => (await countsOf(db, [await addressOfKey(type, key)]))[0]!
  const slotsOf = (key: string, type = page) =>
    addressOfKey(type, key).then(({ recordId }) =>
      db.number('SELECT COUNT(*) FROM slotted_counters WHERE record_id = ?', [recordId]),
    )

  beforeEach(async () => {
    db = await freshDatabase()
    here = isolate()
  })
  // As waitUntil does.
  afterEach(async () => {
    vi.useRealTimers()
    await Promise.all(leading.splice(0))
  })

  it('uses one slot per isolate, however many increments there are', async () => {
    for (let i = 0; i < 5; i++) await hit('/a')
    expect([await countOf('/a'), await slotsOf('/a')]).toEqual([5n, 1n])
    await hit('/a', { on: isolate() })
    expect([await countOf('/a'), await slotsOf('/a')]).toEqual([6n, 2n])
  })

  it('sends the increments that arrive during a flush in few statements', async () => {
    await hit('/a')
    const increment = { counter: await addressOfKey(page, '/a'), by: 1n }
    const statements = await db.recording(async () => {
      // All at one instant.
      const crowd = Array.from({ length: 200 }, () => count([increment]))
      expect(await Promise.all(crowd)).toEqual(crowd.map(() => 'counted'))
    })
    // One or two if the database is fast. Otherwise at most six before the first returns, and one more.
    expect(statements.length).toBeLessThanOrEqual(7)
    expect(await countOf('/a')).toBe(201n)
    expect(await slotsOf('/a')).toBeLessThanOrEqual(6n)
  })

  /** Several rounds of overlapping requests for one counter. */
  const overlap = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      const hits = Array.from({ length: 8 }, async (_, i) => {
        await new Promise((resolve) => setTimeout(resolve, 8 * i))
        await hit('/a')
      })
      await Promise.all(hits)
    }
  }

  it('uses one slot per flush in flight, and reuses them', async () => {
    await db.behave({ latencyMs: 30 })
    await overlap(8)
    await db.behave()
    expect(await countOf('/a')).toBe(64n)
    const slots = await slotsOf('/a')
    expect(slots).toBeGreaterThan(1n)
    expect(slots).toBeLessThanOrEqual(6n)
  })

  it('does not send more flushes at a time to a database that was near and is slow now', async () => {
    let nearest = Number.POSITIVE_INFINITY
    for (let i = 0; i < 20; i++) {
      const began = Date.now()
      await hit('/a')
      nearest = Math.min(nearest, Date.now() - began)
    }
    await db.behave({ latencyMs: 60 })
    // The clock stands still: on a slow machine, the isolate would forget that the database was near.
    vi.useFakeTimers({ toFake: ['Date'] })
    await overlap(4)
    await db.behave()
    expect(await countOf('/a')).toBe(52n)
    // One flush for every 6 ms of the shortest. A distance of 60 ms would allow six.
    expect(Number(await slotsOf('/a'))).toBeLessThanOrEqual(Math.max(1, Math.ceil(nearest / 6)))
  })

  it('answers a crowd in parts, so that there is work while the database answers', async () => {
    await hit('/a')
    const address = await addressOfKey(page, '/a')
    // All at one instant, before any answer.
    const crowd = Array.from({ length: 240 }, () => count([{ counter: address, by: 1n }]))
    expect(countingLoad(here).waiting).toBe(240)
    expect(countingLoad(here).flushes).toBeGreaterThanOrEqual(2)
    expect(await Promise.all(crowd)).toEqual(crowd.map(() => 'counted'))
    expect(await countOf('/a')).toBe(241n)
  })

  it('spreads a type with slots = N over slots 0 to N − 1, as published', async () => {
    for (let i = 0; i < 40; i++) await hit('/a', { type: classic })
    expect(await countOf('/a', classic)).toBe(40n)
    const { rows } = await db.execute('SELECT DISTINCT slot FROM slotted_counters ORDER BY slot')
    expect(rows.map(({ slot }) => slot)).toEqual(['0', '1', '2', '3'])
  })

  it.each([
    ['the answer is lost after the commit, twice', { action: 'cut-answer', times: 2 }],
    ['the connection is cut before the first attempt', { action: 'cut-request' }],
    ['a proxy answers the first attempt with an error page', { action: 'html', status: 502 }],
    ['the first attempt waited too long for a lock', { action: 'error', errno: 1205 }],
    ['the first attempt was a deadlock victim', { action: 'error', errno: 1213 }],
    ['there are too many connections at the first attempt', { action: 'error', errno: 1040 }],
    ['the server has gone away at the first attempt', { action: 'error', errno: 2006 }],
  ] as const)('counts once if %s', async (_, fault) => {
    // The first hit inserts a row, and the second one adds to it.
    for (const count of [1n, 2n]) {
      await db.behave({ faults: [{ ...fault, match: 'INSERT INTO slotted' }] })
      await hit('/a')
      expect(await countOf('/a')).toBe(count)
    }
  })

  it('gives up at its deadline without an answer, with an unknown outcome', async () => {
    const impatient = isolate({ deadlineMs: 1_000 })
    await db.behave({ faults: [{ action: 'hang-answer', match: 'INSERT INTO slotted', times: 100 }] })
    await expect(hit('/a', { on: impatient })).rejects.toMatchObject({ kind: 'unavailable', applied: 'unknown' })
  })

  it('counts once if an attempt that was given up arrives after its retry and after later increments', async () => {
    let delayed: (() => void) | undefined
    const arrived = new Promise<void>((resolve) => {
      delayed = resolve
    })
    let straggler: Promise<unknown> | undefined
    const network: typeof fetch = async (input, init) => {
      if (straggler === undefined && String(init?.body).includes('INSERT INTO slotted')) {
        // Given up by its sender, but still in flight. It reaches the database when `delayed` is called.
        straggler = arrived.then(() => fetch(input, { ...init, signal: null })).then((response) => response.text())
        throw new TypeError('given up by the test')
      }
      return fetch(input, init)
    }
    const flaky = isolate({ db: db.open({ deadlineMs: 10_000, fetch: network }) })
    await hit('/a', { by: 10n, on: flaky })
    for (let i = 0; i < 3; i++) await hit('/a', { by: 100n, on: flaky })
    delayed!()
    expect(await straggler).toContain('result')
    expect(await countOf('/a')).toBe(310n)
  })

  it('never reuses the slot of a batch with an unknown outcome', async () => {
    await hit('/a')
    await db.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted', times: 100 }] })
    await expect(hit('/a')).rejects.toMatchObject({ applied: 'unknown' })
    await db.behave()
    await hit('/a')
    // The first two hits share a slot. The fate of the second was unknown (it was counted), so the third uses another slot.
    const { rows } = await db.execute('SELECT count FROM slotted_counters ORDER BY count')
    expect(rows).toEqual([{ count: '1' }, { count: '2' }])
  })

  it('reuses the slot of a batch that was certainly not applied', async () => {
    await hit('/a')
    await db.behave({ faults: [{ action: 'error', errno: 1205, match: 'INSERT INTO slotted', times: 3 }] })
    await expect(hit('/a')).rejects.toMatchObject({ kind: 'contention', applied: 'no' })
    await db.behave()
    await hit('/a')
    expect([await countOf('/a'), await slotsOf('/a')]).toEqual([2n, 1n])
  })
})
