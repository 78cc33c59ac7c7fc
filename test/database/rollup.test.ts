import { beforeEach, describe, expect, it } from 'vitest'
import { applyBatch, makeBatch } from '../../src/counters/batch.ts'
import type { Counter } from '../../src/counters/counter.ts'
import { addToHistory } from '../../src/counters/history.ts'
import { readCounters } from '../../src/counters/read.ts'
import { countPending, type RollUpOptions, rollUp } from '../../src/counters/rollup.ts'
import { readRollUpState } from '../../src/counters/rollup-state.ts'
import { openDatabase } from '../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { cutFetch } from '../harness/faulty-fetch.ts'

const AT = new Date('2026-11-20T10:59:30.250Z')
const counter = (recordId: bigint, recordType = 1): Counter => ({ recordType, recordId, name: null })

describe('a roll-up', () => {
  let db: TestDatabase
  const run = (options: Partial<RollUpOptions> = {}, on = db as Parameters<typeof rollUp>[0]) =>
    rollUp(on, { pageSlots: 100, maxStatements: 1_000, maxSeconds: 60, at: AT, ...options })
  const add = (recordId: bigint, by: bigint, slot = 1n, batch = 1n) =>
    applyBatch(
      db,
      makeBatch(batch, [{ counter: counter(recordId), by }], () => slot),
    )
  const read = async (recordId: bigint) => (await readCounters(db, [counter(recordId)]))[0]!

  beforeEach(async () => {
    db = await freshDatabase()
  })

  it('moves what is pending into the total and the hour of the run, and leaves the batch marks', async () => {
    await add(1n, 5n, 1n, 11n)
    await add(1n, 7n, 2n, 12n)
    await add(2n, -3n, 1n, 13n)
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 9n, counters: 2, slots: 3, pages: 1, left: 0 })
    expect(await read(1n)).toEqual({ total: 12n, pending: 0n, rolledUpAt: AT })
    expect(await read(2n)).toEqual({ total: -3n, pending: 0n, rolledUpAt: AT })
    const { rows } = await db.execute('SELECT record_id, period_start, count FROM counter_history ORDER BY record_id')
    expect(rows).toEqual([
      { record_id: '1', period_start: '2026-11-20 10:00:00', count: '12' },
      { record_id: '2', period_start: '2026-11-20 10:00:00', count: '-3' },
    ])
    await add(1n, 5n, 1n, 11n)
    expect(await read(1n)).toMatchObject({ total: 12n, pending: 0n })
  })

  it('moves slots that cancel each other out', async () => {
    await add(1n, 5n, 1n)
    await add(1n, -5n, 2n)
    await run()
    expect(await read(1n)).toEqual({ total: 0n, pending: 0n, rolledUpAt: AT })
    expect(await countPending(db)).toBe(0)
  })

  it('of nothing costs four statements and reads next to nothing', async () => {
    await run()
    const statements = await db.recording(() => run())
    expect(statements).toHaveLength(4)
    expect(statements.reduce((sum, { rowsRead }) => sum + rowsRead, 0)).toBeLessThan(10)
  })

  it('adds to the same hour and begins another one at the full hour', async () => {
    await add(1n, 1n, 1n, 1n)
    await run()
    await add(1n, 2n, 1n, 2n)
    await run({ at: new Date('2026-11-20T10:59:59.999Z') })
    await add(1n, 4n, 1n, 3n)
    await run({ at: new Date('2026-11-20T11:00:00.000Z') })
    const { rows } = await db.execute('SELECT period_start, count FROM counter_history ORDER BY period_start')
    expect(rows).toEqual([
      { period_start: '2026-11-20 10:00:00', count: '3' },
      { period_start: '2026-11-20 11:00:00', count: '4' },
    ])
  })

  it('goes through pages that end in the middle of a counter', async () => {
    for (let slot = 1n; slot <= 25n; slot++) await add(1n, slot, slot)
    await add(2n, 1n)
    expect(await run({ pageSlots: 10 })).toMatchObject({ outcome: 'complete', moved: 326n, slots: 26, pages: 3 })
    expect(await read(1n)).toMatchObject({ total: 325n, pending: 0n })
  })

  it('leaves a counter that a page would cut to the next one, in one piece', async () => {
    for (let id = 1n; id <= 5n; id++) for (let slot = 1n; slot <= 4n; slot++) await add(id, slot, slot)
    const summary = await run({ pageSlots: 10 })
    expect(summary).toMatchObject({ outcome: 'complete', moved: 50n, counters: 5, slots: 20, pages: 3, overtaken: 0 })
    for (let id = 1n; id <= 5n; id++) expect(await read(id)).toMatchObject({ total: 10n, pending: 0n })
  })

  it('takes small pages until half of its budget is used up, and large ones after a run that did not get to the end', async () => {
    const fill = async (counters: number) => {
      const rows = Array.from({ length: counters }, (_, id) => `(1, ${id}, 1, 1, 1, 0, DEFAULT)`)
      await db.execute(`REPLACE INTO slotted_counters VALUES ${rows.join(',')}`)
    }
    /** How many slots the pages of a run held. */
    const pagesOf = async (options: Partial<RollUpOptions>) => {
      const statements = await db.recording(() => run({ pageSlots: 1_200, ...options }))
      const moving = statements.filter(({ sql }) => sql.includes('count = count + VALUES(count)'))
      return moving.filter(({ sql }) => sql.includes('INTO slotted_counters')).map(({ sql }) => sql.split('),').length)
    }
    const small = (pages: number) => Array<number>(pages).fill(1_000)
    await fill(9_000)
    expect(await pagesOf({})).toEqual(small(9))
    await fill(9_000)
    // The lease takes two statements, and a page of known counters eight: fifty are not more than half, the eighth page's are.
    expect(await pagesOf({ maxStatements: 100 })).toEqual([...small(7), 1_200, 800])
    await fill(5_000)
    // Few are not enough for small pages; what is left is moved at once, too.
    expect(await pagesOf({ maxStatements: 30 })).toEqual([1_200, 1_200, 1_200])
    expect(await pagesOf({})).toEqual([1_200, 200])
    expect(await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')).toBe(0n)
  })

  it.each(['cut-answer', 'error'] as const)(
    'goes on when reading a page fails (%s), and moves everything once',
    async (action) => {
      for (let id = 1n; id <= 9n; id++) await add(id, id, 1n, id)
      await db.behave({ faults: [{ action, errno: 1205, match: 'SELECT s.record_type', skip: 1 }] })
      const summary = await run({ pageSlots: 3 })
      await db.behave()
      expect(summary).toMatchObject({ outcome: 'complete', moved: 45n, counters: 9, pages: 3, left: 0 })
      expect(await db.number('SELECT SUM(count) FROM counter_totals')).toBe(45n)
    },
  )

  it('reads a page anew that another run moved between its being read and its being moved', async () => {
    for (let id = 1n; id <= 9n; id++) await add(id, id, 1n, id)
    // The totals are there, so that it is their versions that tell.
    await run()
    for (let id = 1n; id <= 9n; id++) await add(id, id, 1n, 100n + id)
    let begun = 0
    const slow = openDatabase({
      url: db.url,
      deadlineMs: 10_000,
      fetch: async (input, init) => {
        if (String(init?.body).includes('"BEGIN"') && ++begun === 2) {
          expect(await run({ lease: false })).toMatchObject({ outcome: 'complete', moved: 39n })
          for (let id = 7n; id <= 9n; id++) await add(id, 1n, 1n, 200n + id)
        }
        return fetch(input, init)
      },
    })
    expect(await run({ pageSlots: 3 }, slow)).toMatchObject({ outcome: 'complete', moved: 9n, overtaken: 1, left: 0 })
    expect(await db.number('SELECT SUM(count) FROM counter_totals')).toBe(93n)
    expect(await db.number('SELECT SUM(count) FROM slotted_counters')).toBe(0n)
  })

  it('stops at its budget, and the next one goes on where it stopped, whatever is written meanwhile', async () => {
    for (let id = 1n; id <= 30n; id++) await add(id, 1n, 1n, id)
    const first = await run({ pageSlots: 10, maxStatements: 14 })
    expect(first).toMatchObject({ outcome: 'partial', slots: 10, left: 20 })
    expect(first.statements).toBeLessThanOrEqual(14)
    for (let id = 1n; id <= 10n; id++) await add(id, 1n, 1n, 100n + id)
    expect(await run({ pageSlots: 10, maxStatements: 14 })).toMatchObject({ outcome: 'partial', slots: 10 })
    expect(await read(11n)).toMatchObject({ total: 1n, pending: 0n })
    await run({ pageSlots: 10, maxStatements: 14 })
    expect(await read(30n)).toMatchObject({ total: 1n, pending: 0n })
    // Round to the beginning, which kept being written to.
    expect(await run({ pageSlots: 10, maxStatements: 32 })).toMatchObject({ outcome: 'complete', left: 0 })
    expect(await read(1n)).toMatchObject({ total: 2n, pending: 0n })
  })

  it('keeps to the lease of another run, until it ends by itself', async () => {
    await add(1n, 1n)
    await db.execute(
      'INSERT INTO rollup_state (id, holder, leased_until) VALUES (1, 77, UTC_TIMESTAMP(3) + INTERVAL 60 SECOND)',
    )
    expect(await run()).toMatchObject({ outcome: 'busy', moved: 0n, left: null })
    await db.execute('UPDATE rollup_state SET leased_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND')
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 1n })
    expect(await readRollUpState(db)).toMatchObject({ leased: false, cursor: null, caughtUpAt: AT, lastRunAt: AT })
  })

  it('that ends after one which was due later takes no time back, of whatever hour or day', async () => {
    const due = [
      '2026-11-20T22:30:00.500Z',
      '2026-11-20T21:30:00.250Z',
      '2026-11-19T23:59:59.999Z',
      '2026-11-20T22:31:00Z',
    ]
    const said: unknown[] = []
    for (const time of due) {
      await run({ at: new Date(time) })
      const state = await readRollUpState(db)
      said.push([state?.lastRunAt, state?.caughtUpAt].map((at) => at?.toISOString()))
    }
    const [first, last] = ['2026-11-20T22:30:00.500Z', '2026-11-20T22:31:00.000Z']
    expect(said).toEqual([first, first, first, last].map((time) => [time, time]))
  })

  it('moves everything once when eight of them see the same, without leases', async () => {
    for (let id = 1n; id <= 50n; id++) await add(id, id, id, id)
    const runs = await Promise.all(Array.from({ length: 8 }, () => run({ lease: false, pageSlots: 20 })))
    expect(runs.reduce((sum, { moved }) => sum + moved, 0n)).toBe(1_275n)
    for (let id = 1n; id <= 50n; id++) expect(await read(id)).toMatchObject({ total: id, pending: 0n })
    expect(await db.number('SELECT SUM(count) FROM counter_history')).toBe(1_275n)
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters WHERE count <> 0')).toBe(0n)
  })

  it('moves on when a total cannot take any more, and tells of it', async () => {
    for (let id = 1n; id <= 9n; id++) await add(id, 1n, 1n, id)
    await db.execute('INSERT INTO counter_totals VALUES (1, 5, ?, 1, NULL)', [2n ** 63n - 1n])
    const summary = await run()
    expect(summary).toMatchObject({ outcome: 'complete', moved: 8n, stuck: 1, left: 1 })
    expect(await read(5n)).toMatchObject({ total: 2n ** 63n - 1n, pending: 1n })
    expect(await read(9n)).toMatchObject({ total: 1n, pending: 0n })
  })

  it.each([
    ['the sum of its slots', -(2n ** 63n - 1n), [9n * 10n ** 18n, 9n * 10n ** 18n]],
    ['one slot, once it is subtracted', 5n, [-(2n ** 63n)]],
  ])(
    'moves on past a counter of which %s would leave 64 bits, although its total would not',
    async (_, total, slots) => {
      await db.execute('INSERT INTO counter_totals VALUES (1, 5, ?, 1, NULL)', [total])
      for (const [i, count] of slots.entries()) {
        await db.execute('INSERT INTO slotted_counters VALUES (1, 5, ?, ?, 1, 0, DEFAULT)', [i + 1, count])
      }
      for (const id of [4n, 6n]) await add(id, 1n)
      expect(await run()).toMatchObject({ outcome: 'complete', moved: 2n, stuck: 1, left: slots.length })
      expect(await read(5n)).toMatchObject({ total, pending: slots.reduce((sum, count) => sum + count, 0n) })
      expect(await read(6n)).toMatchObject({ total: 1n, pending: 0n })
    },
  )

  it('moves on past such a counter with the bounds it ships with, run after run, and does not say it has caught up', async () => {
    await db.execute('INSERT INTO counter_totals VALUES (1, 1, ?, 1, NULL)', [2n ** 63n - 1n])
    for (let id = 1n; id <= 9n; id++) await add(id, 1n, 1n, id)
    const shipped = { pageSlots: 2_000, maxStatements: 45 }
    expect(await run(shipped)).toMatchObject({ outcome: 'complete', moved: 8n, stuck: 1, left: 1 })
    expect(await run(shipped)).toMatchObject({ outcome: 'complete', moved: 0n, stuck: 1, left: 1 })
    expect(await readRollUpState(db)).toMatchObject({ caughtUpAt: null, lastRunAt: AT })
  })

  it('that fails, or stops early, does not say it has caught up', async () => {
    await add(1n, 1n)
    await db.behave({ faults: [{ action: 'error', errno: 1213, match: 'INSERT INTO counter_totals', times: 9 }] })
    await expect(run()).rejects.toMatchObject({ kind: 'contention' })
    await db.behave()
    expect(await readRollUpState(db)).toMatchObject({ leased: false, caughtUpAt: null })
    for (let id = 2n; id <= 30n; id++) await add(id, 1n, 1n, id)
    expect(await run({ pageSlots: 10, maxStatements: 14 })).toMatchObject({ outcome: 'partial' })
    expect(await readRollUpState(db)).toMatchObject({ caughtUpAt: null })
  })

  it('survives hiccups in the statements around its pages, and never turns back its times', async () => {
    await add(1n, 1n)
    const hiccup = (match: string) => ({ action: 'error' as const, errno: 1213, match })
    await db.behave({ faults: [hiccup('INSERT INTO rollup_state'), hiccup('UPDATE rollup_state')] })
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 1n, left: 0 })
    await add(1n, 1n, 1n, 2n)
    await run({ at: new Date('2026-01-01T00:00:00Z') })
    expect(await readRollUpState(db)).toMatchObject({ leased: false, caughtUpAt: AT, lastRunAt: AT })
    expect(await read(1n)).toMatchObject({ total: 2n, rolledUpAt: AT })
  })

  it('brings a slot that was pruned meanwhile back as negative, so that nothing is counted twice', async () => {
    await add(1n, 5n)
    // Another database of the same content, whose answer to the page read is held back: the slot vanishes in between.
    let held = true
    const slow = openDatabase({
      url: db.url,
      deadlineMs: 10_000,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        if (held && String(init?.body).includes('FORCE INDEX (pending)')) {
          held = false
          await db.execute('DELETE FROM slotted_counters WHERE record_id = 1')
          await db.execute('INSERT INTO counter_totals VALUES (1, 1, 5, 0, NULL)')
        }
        return response
      },
    })
    await run({}, slow)
    const { total, pending } = await read(1n)
    expect(total + pending).toBe(5n)
  })

  it('takes back what an earlier one moved twice, from the total and from every period of the history', async () => {
    // What two runs would do that both moved what they saw, without the guard: zero-sum, but twice.
    const moveUnguarded = async () => {
      await db.transaction(async (transaction) => {
        await transaction.execute(
          `INSERT INTO counter_totals VALUES (1, 1, 7, 1, ?)
           ON DUPLICATE KEY UPDATE count = count + VALUES(count), version = version + 1`,
          [AT],
        )
        await addToHistory(transaction, [{ recordType: 1, recordId: 1n, amount: 7n }], AT)
        await transaction.execute('UPDATE slotted_counters SET count = count - 7 WHERE record_id = 1')
      })
    }
    const history = async () => {
      const { rows } = await db.execute(
        `SELECT 'hour' AS kept, SUM(count) AS count FROM counter_history
         UNION ALL SELECT CONCAT('counter ', period), SUM(count) FROM counter_periods GROUP BY period
         UNION ALL SELECT CONCAT('type ', period), SUM(count) FROM type_history GROUP BY period`,
      )
      return Object.fromEntries(rows.map(({ kept, count }) => [kept, Number(count)]))
    }
    const all = (count: number) => {
      const [hour, day, week, month] = [0, 1, 2, 3]
      const periods = [
        `type ${hour}`,
        ...[day, week, month].flatMap((period) => [`counter ${period}`, `type ${period}`]),
      ]
      return Object.fromEntries(['hour', ...periods].map((kept) => [kept, count]))
    }
    await add(1n, 7n)
    await moveUnguarded()
    await moveUnguarded()
    expect(await read(1n)).toMatchObject({ total: 14n, pending: -7n })
    expect(await history()).toEqual(all(14))
    expect(await run()).toMatchObject({ outcome: 'complete', moved: -7n, left: 0 })
    expect(await read(1n)).toMatchObject({ total: 7n, pending: 0n })
    expect(await history()).toEqual(all(7))
    expect(await db.number('SELECT COUNT(*) FROM counter_periods')).toBe(3n)
    expect(await run()).toMatchObject({ outcome: 'complete', moved: 0n })
  })

  it.each([100, 1])(
    'survives being cut off at every statement, with the answer or the request lost, and the next run finishes (pages of %i)',
    async (pageSlots) => {
      let sent = Number.POSITIVE_INFINITY
      for (let after = 0; after < sent; after++) {
        for (const delivered of [false, true]) {
          const before = await db.number('SELECT COALESCE(SUM(count), 0) FROM counter_totals')
          const batch = BigInt(after * 2 + (delivered ? 2 : 1))
          await add(1n, 3n, batch, batch)
          await add(batch + 10n, 4n, 1n, batch)
          const cut = openDatabase({
            url: db.url,
            deadlineMs: 10_000,
            fetch: cutFetch({ after, delivered, rollback: true }),
          })
          const ended = await run({ lease: false, pageSlots }, cut).catch(() => null)
          const all = await db.number(
            'SELECT (SELECT COALESCE(SUM(count), 0) FROM counter_totals) + (SELECT COALESCE(SUM(count), 0) FROM slotted_counters)',
          )
          expect(all).toBe(before + 7n)
          await run({ lease: false })
          expect(await db.number('SELECT SUM(count) FROM counter_totals')).toBe(before + 7n)
          expect(await db.number('SELECT SUM(count) FROM counter_history')).toBe(before + 7n)
          if (ended !== null && ended.overtaken === 0) sent = Math.min(sent, after)
        }
      }
      expect(sent).toBeGreaterThanOrEqual(9)
    },
  )

  it('killed with its transaction open holds nobody up for longer than the server allows', async () => {
    await add(1n, 5n)
    // Lease, state, page read, new total, BEGIN, totals, history, slots: dead before COMMIT, and no ROLLBACK either.
    const cut = openDatabase({
      url: db.url,
      deadlineMs: 10_000,
      fetch: cutFetch({ after: 8, delivered: false, rollback: false }),
    })
    await expect(run({ lease: false }, cut)).rejects.toThrow('cut off')
    expect(await read(1n)).toMatchObject({ total: 0n, pending: 5n })
    // Waits for the row locks until the endpoint ends the abandoned transaction, 20 s after it began.
    await add(1n, 2n, 1n, 2n)
    // The dead run's lease outlasts its transaction; work goes on without it.
    expect(await run()).toMatchObject({ outcome: 'busy' })
    expect(await run({ lease: false })).toMatchObject({ moved: 7n })
    expect(await read(1n)).toMatchObject({ total: 7n, pending: 0n })
  })
})
